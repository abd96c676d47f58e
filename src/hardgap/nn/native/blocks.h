// What both networks are made of: linear maps, and the blocks of a transformer, for a group of rows whose activations
// fit the cache.
//
// Parameters come as PyTorch keeps them, one pointer each: a `Pair` for every linear map and norm, in order. They are
// copied into a layout of our own at each call (a hundredth of its work): every dimension padded to whole vectors with
// zeros, weights in panels both ways.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "layers.h"

// Hands out parts of one block of memory; without a block it only counts.
struct Arena {
    float *base;
    long used = 0;
    float *take(long floats) {
        float *part = base ? base + used : nullptr;
        used += (floats + 15) / 16 * 16;
        return part;
    }
};

// How a dimension of the network lies in ours: each run of `step` numbers is padded to `padded_step`.
struct Axis {
    long real, step, padded_step;
    explicit Axis(long n) : real(n), step(n), padded_step(padded(n)) {}
    Axis(long runs, long step) : real(runs * step), step(step), padded_step(padded(step)) {}
    long length() const { return real / step * padded_step; }
};

struct Shape {
    long W, H, group;  // cells (or tokens) of a row, heads, rows that are computed together
    Axis dim, heads, qkv, kv, ffn;
    float scale;  // of the queries, put into their weights
    bool causal;
    Shape(long W, long D, long H, long F, long group, bool causal = false)
        : W(W), H(H), group(group), dim(D), heads(H, D / H), qkv(3 * H, D / H), kv(2 * H, D / H), ffn(F),
          scale(1.0f / sqrtf(float(D / H))), causal(causal) {}
    long D() const { return dim.length(); }
    long cells() const { return group * W; }
    Heads attention() const { return {W, W, H, heads.padded_step, qkv.length(), qkv.length(), causal}; }
    Heads attention_to(long keys) const { return {W, keys, H, heads.padded_step, heads.length(), kv.length()}; }
};

// How many rows of W cells make a group of about so many
constexpr long group_of(long W, long cells) { return W < cells ? cells / W : 1; }

// f(place there, row and column here, how many) for every run of numbers of a matrix [out, in]
template <class F> INLINE void each_run(const Axis &out, const Axis &in, F f) {
    for (long o = 0; o < out.real; o++)
        for (long run = 0; run < in.real / in.step; run++)
            f(o * in.real + run * in.step, o / out.step * out.padded_step + o % out.step, run * in.padded_step, in.step);
}

template <class Float> struct Pair {  // of a linear map or a norm
    Float *weight, *bias;
};
template <class Float> using Pairs = const Pair<Float> *;  // each part takes its own and moves on

struct Linear {
    Axis in, out;
    float *forth, *back, *bias;  // [in] x panels of out, [out] x panels of in
    Linear(Arena &arena, const Axis &in, const Axis &out) : in(in), out(out) {
        long panels_of_out = (out.length() + NB - 1) / NB * NB, panels_of_in = (in.length() + NB - 1) / NB * NB;
        forth = arena.take(in.length() * panels_of_out);
        back = arena.take(out.length() * panels_of_in);
        bias = arena.take(out.length());
    }
    // The first `scaled` outputs are multiplied by a scale.
    void pack(const Pair<const float> &p, long scaled = 0, float scale = 1) const {
        const long IN = in.length(), OUT = out.length();
        each_run(out, in, [&](long there, long o, long i, long n) {
            const float by = there < scaled * in.real ? scale : 1;
            for (long k = 0; k < n; k++) back[(i + k) / NB * OUT * NB + o * NB + (i + k) % NB] = p.weight[there + k] * by;
        });
        for (long i = 0; i < IN; i += NB)
            for (long o = 0; o < OUT; o += NB)
                transpose_in(std::min<long>(NB, OUT - o), std::min<long>(NB, IN - i), back + i * OUT + o * NB, NB,
                             forth + o * IN + i * NB, NB);
        each_run(Axis(1), out, [&](long there, long, long o, long n) {
            for (long k = 0; k < n; k++) bias[o + k] = p.bias[there + k] * (there < scaled ? scale : 1);
        });
    }
    // to = x weight', with what `out` adds to it
    void product(long M, const float *x, const Out &to) const {
        gemm(M, out.length(), in.length(), {x, in.length(), 1}, {forth, NB, in.length() * NB}, to);
    }
    void forward(long M, const float *x, Out to) const {
        to.bias = bias;
        product(M, x, to);
    }
    // to = d weight
    void backward(long M, const float *d, const Out &to) const {
        gemm(M, in.length(), out.length(), {d, out.length(), 1}, {back, NB, out.length() * NB}, to);
    }
};
struct LinearGrad {
    float *weight, *bias;
    LinearGrad(Arena &arena, const Linear &of) {
        weight = arena.take(of.out.length() * of.in.length());
        bias = arena.take(of.out.length());
    }
    void add_weight(const Linear &of, long M, const float *x, const float *d) const {
        const long IN = of.in.length(), OUT = of.out.length();
        gemm(OUT, IN, M, {d, 1, OUT}, {x, IN}, {weight, IN, nullptr, weight});
    }
    void add(const Linear &of, long M, const float *x, const float *d) const {
        add_weight(of, M, x, d);
        add_columns(M, of.out.length(), d, bias);
    }
    void unpack(const Linear &of, const Pair<float> &p, long scaled = 0, float scale = 1) const {
        each_run(of.out, of.in, [&](long there, long o, long i, long n) {
            const float by = there < scaled * of.in.real ? scale : 1;
            for (long k = 0; k < n; k++) p.weight[there + k] = weight[o * of.in.length() + i + k] * by;
        });
        each_run(Axis(1), of.out, [&](long there, long, long o, long n) {
            for (long k = 0; k < n; k++) p.bias[there + k] = bias[o + k] * (there < scaled ? scale : 1);
        });
    }
};

// What a norm keeps of a group for the way back, and its result
struct NormKept {
    float *hat, *inverse, *out;
    NormKept(Arena &a, long M, long D) : hat(a.take(M * D)), inverse(a.take(M)), out(a.take(M * D)) {}
};
static Norm norm_in(Arena &a, const Axis &dim, const float *real) {
    const long D = dim.length();
    return {a.take(D), a.take(D), real, D, 1.0f / dim.real};
}
static NormGrad norm_grad_in(Arena &a, const Norm &of) { return {a.take(of.D), a.take(of.D)}; }
static void pack_norm(const Norm &norm, const Axis &dim, const Pair<const float> &p) {
    memcpy((float *)norm.weight, p.weight, dim.real * sizeof(float));
    memcpy((float *)norm.bias, p.bias, dim.real * sizeof(float));
}
static void unpack_norm(const NormGrad &grad, const Axis &dim, const Pair<float> &p) {
    memcpy(p.weight, grad.weight, dim.real * sizeof(float)), memcpy(p.bias, grad.bias, dim.real * sizeof(float));
}

// Memory for what is not kept
struct Scratch {
    float *sums, *d, *dhidden, *dqkv, *dmixed, *attention;
    Scratch(Arena &a, const Shape &s, long keys = 0) {  // of attention to others, if that is more than to its own
        const long M = s.cells(), D = s.D();
        sums = a.take(M * D), d = a.take(M * D), dhidden = a.take(M * s.ffn.length());
        dqkv = a.take(M * s.qkv.length()), dmixed = a.take(M * s.heads.length());
        attention = a.take(s.attention_to(std::max(keys, s.W)).scratch_floats());
    }
};

// How every block ends: a linear map, added to what came in, normalised
struct Ending {
    Linear map;
    Norm norm;
    Ending(Arena &a, const Shape &s, const Axis &from, const float *real)
        : map(a, from, s.dim), norm(norm_in(a, s.dim, real)) {}
    void pack(Pairs<const float> &p) const {
        map.pack(*p++);
        pack_norm(norm, map.out, *p++);
    }
    void forward(long M, const float *from, const float *x, const NormKept &k, float *sums, const Dropout &drop = {}) const {
        map.forward(M, from, {sums, norm.D, nullptr, drop ? nullptr : x});
        if (drop) drop.keep_and_add(M * norm.D, sums, x);
        norm_forward(norm, M, sums, k.hat, k.inverse, k.out);
    }
};
struct EndingGrad {
    LinearGrad map;
    NormGrad norm;
    EndingGrad(Arena &a, const Ending &of) : map(a, of.map), norm(norm_grad_in(a, of.norm)) {}
    void unpack(const Ending &of, Pairs<float> &p) const {
        map.unpack(of.map, *p++);
        unpack_norm(norm, of.map.out, *p++);
    }
    // d, the gradient of the result, becomes that of the sum; `to` takes that of what was mapped
    void backward(const Ending &of, long M, const float *from, const NormKept &k, float *d, const Out &to, float *sums,
                  const Dropout &drop = {}) const {
        norm_backward(of.norm, norm, M, k.hat, k.inverse, d);
        const float *added = drop ? drop.keep(M * of.norm.D, d, sums) : d;
        map.add(of.map, M, from, added);
        of.map.backward(M, added, to);
    }
};

struct SelfAttention {
    Linear qkv;
    Ending end;
    SelfAttention(Arena &a, const Shape &s, const float *real) : qkv(a, s.dim, s.qkv), end(a, s, s.heads, real) {}
    void pack(const Shape &s, Pairs<const float> &p) const {
        qkv.pack(*p++, s.dim.real, s.scale);
        end.pack(p);
    }
};
struct SelfAttentionGrad {
    LinearGrad qkv;
    EndingGrad end;
    SelfAttentionGrad(Arena &a, const SelfAttention &of) : qkv(a, of.qkv), end(a, of.end) {}
    void unpack(const Shape &s, const SelfAttention &of, Pairs<float> &p) const {
        qkv.unpack(of.qkv, *p++, s.dim.real, s.scale);
        end.unpack(of.end, p);
    }
};
struct SelfAttentionKept {
    float *qkv, *pattern, *mixed;
    NormKept norm;
    SelfAttentionKept(Arena &a, const Shape &s)
        : qkv(a.take(s.cells() * s.qkv.length())), pattern(a.take(s.group * s.attention().pattern_floats())),
          mixed(a.take(s.cells() * s.heads.length())), norm(a, s.cells(), s.D()) {}
};
template <class Float> INLINE QKV<Float> parts_of(const Shape &s, Float *qkv) {
    return {qkv, qkv + s.heads.length(), qkv + 2 * s.heads.length()};
}

// Where a layer drops: patterns and what attention adds, hidden units and what feed forward adds
enum Place : uint32_t { PATTERNS, ATTENDED, HIDDEN, FED };

// From queries, keys and values that are there to the result
static void self_forward(const Shape &s, const SelfAttention &b, long rows, const float *x, const SelfAttentionKept &k,
                         const Scratch &z, const Dropout &drop = {}) {
    const Heads heads = s.attention();
    const Dropout patterns = drop.of(PATTERNS);
    for (long r = 0, m = 0; r < rows; r++, m += s.W)
        attention_forward(heads, parts_of<const float>(s, k.qkv + m * heads.q_row),
                          k.pattern + r * heads.pattern_floats(), k.mixed + m * s.heads.length(), z.attention,
                          patterns.from(r * heads.pattern_floats()));
    b.end.forward(rows * s.W, k.mixed, x, k.norm, z.sums, drop.of(ATTENDED));
}
// z.d: from the gradient of the result to that of x as far as it was added; z.dqkv takes the rest
static void self_backward(const Shape &s, const SelfAttention &b, const SelfAttentionGrad &g, long rows,
                          const SelfAttentionKept &k, const Scratch &z, const Dropout &drop = {}) {
    const Heads heads = s.attention();
    const Dropout patterns = drop.of(PATTERNS);
    g.end.backward(b.end, rows * s.W, k.mixed, k.norm, z.d, {z.dmixed, s.heads.length()}, z.sums, drop.of(ATTENDED));
    for (long r = 0, m = 0; r < rows; r++, m += s.W)
        attention_backward(heads, parts_of<const float>(s, k.qkv + m * heads.q_row),
                           k.pattern + r * heads.pattern_floats(), z.dmixed + m * s.heads.length(),
                           parts_of(s, z.dqkv + m * heads.q_row), z.attention,
                           patterns.from(r * heads.pattern_floats()));
}
// The rest: what went through queries, keys and values
static void qkv_backward(const SelfAttention &b, const SelfAttentionGrad &g, long M, const float *x, const Scratch &z) {
    g.qkv.add(b.qkv, M, x, z.dqkv);
    b.qkv.backward(M, z.dqkv, {z.d, b.qkv.in.length(), nullptr, z.d});
}

struct FeedForward {
    Linear expand;
    Ending end;
    FeedForward(Arena &a, const Shape &s, const float *real) : expand(a, s.dim, s.ffn), end(a, s, s.ffn, real) {}
    void pack(Pairs<const float> &p) const {
        expand.pack(*p++);
        end.pack(p);
    }
};
struct FeedForwardGrad {
    LinearGrad expand;
    EndingGrad end;
    FeedForwardGrad(Arena &a, const FeedForward &of) : expand(a, of.expand), end(a, of.end) {}
    void unpack(const FeedForward &of, Pairs<float> &p) const {
        expand.unpack(of.expand, *p++);
        end.unpack(of.end, p);
    }
};
struct FeedForwardKept {
    float *hidden;
    NormKept norm;
    FeedForwardKept(Arena &a, const Shape &s)
        : hidden(a.take(s.cells() * s.ffn.length())), norm(a, s.cells(), s.D()) {}
};
static void feed_forward(const FeedForward &b, long M, const float *x, const FeedForwardKept &k, float *sums,
                         const Dropout &drop = {}) {
    const long F = b.expand.out.length();
    b.expand.forward(M, x, {k.hidden, F, nullptr, nullptr, nullptr, true});
    if (drop) drop.of(HIDDEN).keep(M * F, k.hidden, k.hidden);
    b.end.forward(M, k.hidden, x, k.norm, sums, drop.of(FED));
}
// z.d holds the gradient of the result and takes that of x.
static void feed_backward(const FeedForward &b, const FeedForwardGrad &g, long M, const float *x,
                          const FeedForwardKept &k, const Scratch &z, const Dropout &drop = {}) {
    const long F = b.expand.out.length();
    g.end.backward(b.end, M, k.hidden, k.norm, z.d, {z.dhidden, F, nullptr, nullptr, k.hidden}, z.sums, drop.of(FED));
    if (drop) drop.of(HIDDEN).keep(M * F, z.dhidden, z.dhidden);
    g.expand.add(b.expand, M, x, z.dhidden);
    b.expand.backward(M, z.dhidden, {z.d, b.expand.in.length(), nullptr, z.d});
}

// A layer of an encoder: attention, then feed forward
struct Layer {
    SelfAttention attention;
    FeedForward ffn;
    Layer(Arena &a, const Shape &s, const float *real) : attention(a, s, real), ffn(a, s, real) {}
    void pack(const Shape &s, Pairs<const float> &p) const {
        attention.pack(s, p);
        ffn.pack(p);
    }
};
struct LayerGrad {
    SelfAttentionGrad attention;
    FeedForwardGrad ffn;
    LayerGrad(Arena &a, const Layer &of) : attention(a, of.attention), ffn(a, of.ffn) {}
    void unpack(const Shape &s, const Layer &of, Pairs<float> &p) const {
        attention.unpack(s, of.attention, p);
        ffn.unpack(of.ffn, p);
    }
};
struct Kept {
    SelfAttentionKept attention;
    FeedForwardKept ffn;
    Kept(Arena &a, const Shape &s) : attention(a, s), ffn(a, s) {}
    const float *out() const { return ffn.norm.out; }
};
