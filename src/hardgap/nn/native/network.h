// The encoder of nn/encoder.py: cells -> logits, and the way back, for a group of rows whose activations fit the cache.
//
// Parameters come as PyTorch keeps them, one pointer each: positions, embed.weight, embed.bias, of every layer what
// `LayerPointers` names in its order, readout.weight, readout.bias. They are copied into a layout of our own at each
// call (a hundredth of its work): every dimension padded to whole vectors with zeros, weights in panels both ways.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "layers.h"

constexpr long CELLS_OF_A_GROUP = 128;

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
    long W, layers, H;
    Axis dim, heads, qkv, ffn;
    float scale;  // of the queries, put into their weights
    explicit Shape(const int32_t *s)
        : W(s[0]), layers(s[4]), H(s[2]), dim(s[1]), heads(s[2], s[1] / s[2]), qkv(3 * s[2], s[1] / s[2]), ffn(s[3]),
          scale(1.0f / sqrtf(float(s[1] / s[2]))) {}
    long D() const { return dim.length(); }
    Heads attention() const { return {W, H, heads.padded_step}; }
    long group() const { return W < CELLS_OF_A_GROUP ? CELLS_OF_A_GROUP / W : 1; }
    long cells() const { return group() * W; }
};

// f(place there, row and column here, how many) for every run of numbers of a matrix [out, in]
template <class F> INLINE void each_run(const Axis &out, const Axis &in, F f) {
    for (long o = 0; o < out.real; o++)
        for (long run = 0; run < in.real / in.step; run++)
            f(o * in.real + run * in.step, o / out.step * out.padded_step + o % out.step, run * in.padded_step, in.step);
}

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
    void pack(const float *weight, const float *b, long scaled = 0, float scale = 1) const {
        const long IN = in.length(), OUT = out.length();
        each_run(out, in, [&](long there, long o, long i, long n) {
            const float by = there < scaled * in.real ? scale : 1;
            for (long k = 0; k < n; k++) back[(i + k) / NB * OUT * NB + o * NB + (i + k) % NB] = weight[there + k] * by;
        });
        for (long i = 0; i < IN; i += NB)
            for (long o = 0; o < OUT; o += NB)
                transpose_in(std::min<long>(NB, OUT - o), std::min<long>(NB, IN - i), back + i * OUT + o * NB, NB,
                             forth + o * IN + i * NB, NB);
        each_run(Axis(1), out, [&](long there, long, long o, long n) {
            for (long k = 0; k < n; k++) bias[o + k] = b[there + k] * (there < scaled ? scale : 1);
        });
    }
    // to = x weight' + bias, with what `out` adds to it
    void forward(long M, const float *x, Out to) const {
        to.bias = bias;
        gemm(M, out.length(), in.length(), {x, in.length(), 1}, {forth, NB, in.length() * NB}, to);
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
    void add(const Linear &of, long M, const float *x, const float *d) const {
        const long IN = of.in.length(), OUT = of.out.length();
        gemm(OUT, IN, M, {d, 1, OUT}, {x, IN}, {weight, IN, nullptr, weight});
        add_columns(M, OUT, d, bias);
    }
    void unpack(const Linear &of, float *w, float *b, long scaled = 0, float scale = 1) const {
        each_run(of.out, of.in, [&](long there, long o, long i, long n) {
            const float by = there < scaled * of.in.real ? scale : 1;
            for (long k = 0; k < n; k++) w[there + k] = weight[o * of.in.length() + i + k] * by;
        });
        each_run(Axis(1), of.out, [&](long there, long, long o, long n) {
            for (long k = 0; k < n; k++) b[there + k] = bias[o + k] * (there < scaled ? scale : 1);
        });
    }
};

template <class Float> struct LayerPointers {
    Float *qkv_weight, *qkv_bias, *output_weight, *output_bias, *norm1_weight, *norm1_bias, *expand_weight,
        *expand_bias, *contract_weight, *contract_bias, *norm2_weight, *norm2_bias;
};
template <class Float> struct Pointers {
    Float *positions, *embed_weight, *embed_bias;
    const LayerPointers<Float> *layers;
    Float *readout_weight, *readout_bias;
    Pointers(Float *const *p, long layers_) {
        positions = p[0], embed_weight = p[1], embed_bias = p[2];
        layers = (const LayerPointers<Float> *)(p + 3);
        readout_weight = p[3 + 12 * layers_], readout_bias = p[4 + 12 * layers_];
    }
};

struct Layer {
    Linear qkv, output, expand, contract;
    Norm norm1, norm2;
    Layer(Arena &a, const Shape &s, const float *real)
        : qkv(a, s.dim, s.qkv), output(a, s.heads, s.dim), expand(a, s.dim, s.ffn), contract(a, s.ffn, s.dim),
          norm1{a.take(s.D()), a.take(s.D()), real, s.D(), 1.0f / s.dim.real},
          norm2{a.take(s.D()), a.take(s.D()), real, s.D(), 1.0f / s.dim.real} {}
    void pack(const Shape &s, const LayerPointers<const float> &p) const {
        qkv.pack(p.qkv_weight, p.qkv_bias, s.dim.real, s.scale);
        output.pack(p.output_weight, p.output_bias);
        expand.pack(p.expand_weight, p.expand_bias);
        contract.pack(p.contract_weight, p.contract_bias);
        const size_t bytes = s.dim.real * sizeof(float);
        memcpy((float *)norm1.weight, p.norm1_weight, bytes), memcpy((float *)norm1.bias, p.norm1_bias, bytes);
        memcpy((float *)norm2.weight, p.norm2_weight, bytes), memcpy((float *)norm2.bias, p.norm2_bias, bytes);
    }
};
struct LayerGrad {
    LinearGrad qkv, output, expand, contract;
    NormGrad norm1, norm2;
    LayerGrad(Arena &a, const Shape &s, const Layer &of)
        : qkv(a, of.qkv), output(a, of.output), expand(a, of.expand), contract(a, of.contract),
          norm1{a.take(s.D()), a.take(s.D())}, norm2{a.take(s.D()), a.take(s.D())} {}
    void unpack(const Shape &s, const Layer &of, const LayerPointers<float> &p) const {
        qkv.unpack(of.qkv, p.qkv_weight, p.qkv_bias, s.dim.real, s.scale);
        output.unpack(of.output, p.output_weight, p.output_bias);
        expand.unpack(of.expand, p.expand_weight, p.expand_bias);
        contract.unpack(of.contract, p.contract_weight, p.contract_bias);
        const size_t bytes = s.dim.real * sizeof(float);
        memcpy(p.norm1_weight, norm1.weight, bytes), memcpy(p.norm1_bias, norm1.bias, bytes);
        memcpy(p.norm2_weight, norm2.weight, bytes), memcpy(p.norm2_bias, norm2.bias, bytes);
    }
};

// What a layer keeps of a group for the way back
struct Kept {
    float *qkv, *pattern, *mixed, *hat1, *inverse1, *middle, *hidden, *hat2, *inverse2, *out;
    Kept(Arena &a, const Shape &s) {
        const long M = s.cells(), D = s.D();
        qkv = a.take(M * s.qkv.length()), pattern = a.take(s.group() * s.attention().pattern_floats());
        mixed = a.take(M * s.heads.length()), hidden = a.take(M * s.ffn.length());
        hat1 = a.take(M * D), middle = a.take(M * D), hat2 = a.take(M * D), out = a.take(M * D);
        inverse1 = a.take(M), inverse2 = a.take(M);
    }
};
struct Scratch {
    float *x, *sums, *d, *dhidden, *dqkv, *dmixed, *attention;
    Scratch(Arena &a, const Shape &s) {
        const long M = s.cells(), D = s.D();
        x = a.take(M * D), sums = a.take(M * D), d = a.take(M * D), dhidden = a.take(M * s.ffn.length());
        dqkv = a.take(M * s.qkv.length()), dmixed = a.take(M * s.heads.length());
        attention = a.take(s.attention().scratch_floats());
    }
};

static void layer_forward(const Shape &s, const Layer &l, long rows, const float *x, const Kept &k, const Scratch &z) {
    const long M = rows * s.W, D = s.D();
    const Heads heads = s.attention();
    l.qkv.forward(M, x, {k.qkv, s.qkv.length()});
    for (long r = 0; r < rows; r++)
        attention_forward(heads, k.qkv + r * s.W * heads.row(), k.pattern + r * heads.pattern_floats(),
                          k.mixed + r * s.W * s.heads.length(), z.attention);
    l.output.forward(M, k.mixed, {z.sums, D, nullptr, x});
    norm_forward(l.norm1, M, z.sums, k.hat1, k.inverse1, k.middle);
    l.expand.forward(M, k.middle, {k.hidden, s.ffn.length(), nullptr, nullptr, nullptr, true});
    l.contract.forward(M, k.hidden, {z.sums, D, nullptr, k.middle});
    norm_forward(l.norm2, M, z.sums, k.hat2, k.inverse2, k.out);
}

// z.d holds the gradient of the layer's result and takes that of its input x.
static void layer_backward(const Shape &s, const Layer &l, const LayerGrad &g, long rows, const float *x, const Kept &k,
                           const Scratch &z) {
    const long M = rows * s.W, D = s.D();
    const Heads heads = s.attention();
    norm_backward(l.norm2, g.norm2, M, k.hat2, k.inverse2, z.d);
    g.contract.add(l.contract, M, k.hidden, z.d);
    l.contract.backward(M, z.d, {z.dhidden, s.ffn.length(), nullptr, nullptr, k.hidden});
    g.expand.add(l.expand, M, k.middle, z.dhidden);
    l.expand.backward(M, z.dhidden, {z.d, D, nullptr, z.d});
    norm_backward(l.norm1, g.norm1, M, k.hat1, k.inverse1, z.d);
    g.output.add(l.output, M, k.mixed, z.d);
    l.output.backward(M, z.d, {z.dmixed, s.heads.length()});
    for (long r = 0; r < rows; r++)
        attention_backward(heads, k.qkv + r * s.W * heads.row(), k.pattern + r * heads.pattern_floats(),
                           z.dmixed + r * s.W * s.heads.length(), z.dqkv + r * s.W * heads.row(), z.attention);
    g.qkv.add(l.qkv, M, x, z.dqkv);
    l.qkv.backward(M, z.dqkv, {z.d, D, nullptr, z.d});
}

// The whole network in our layout
struct Network {
    Shape s;
    float *begin, *real, *embed_weight, *embed_bias, *readout_weight, *positions;
    float readout_bias = 0;
    long floats;
    std::vector<Layer> layers;

    Network(Arena &a, const Shape &s) : s(s) {
        const long D = s.D(), before = a.used;
        begin = real = a.take(D), embed_weight = a.take(D), embed_bias = a.take(D), readout_weight = a.take(D);
        positions = a.take(s.W * D);
        for (long i = 0; i < s.layers; i++) layers.emplace_back(a, s, real);
        floats = a.used - before;
    }
    void pack(const Pointers<const float> &p) {
        const size_t bytes = s.dim.real * sizeof(float);
        memset(begin, 0, floats * sizeof(float));
        for (long i = 0; i < s.dim.real; i++) real[i] = 1;
        for (long w = 0; w < s.W; w++) memcpy(positions + w * s.D(), p.positions + w * s.dim.real, bytes);
        memcpy(embed_weight, p.embed_weight, bytes), memcpy(embed_bias, p.embed_bias, bytes);
        memcpy(readout_weight, p.readout_weight, bytes);
        readout_bias = *p.readout_bias;
        for (long i = 0; i < s.layers; i++) layers[i].pack(s, p.layers[i]);
    }
};
struct NetworkGrad {
    float *begin, *embed_weight, *embed_bias, *readout_weight, *readout_bias, *positions;
    long floats;
    std::vector<LayerGrad> layers;

    NetworkGrad(Arena &a, const Network &of) {
        const long D = of.s.D(), before = a.used;
        begin = embed_weight = a.take(D), embed_bias = a.take(D), readout_weight = a.take(D), readout_bias = a.take(1);
        positions = a.take(of.s.W * D);
        for (const Layer &layer : of.layers) layers.emplace_back(a, of.s, layer);
        floats = a.used - before;
    }
    void clear() const { memset(begin, 0, floats * sizeof(float)); }
    void unpack(const Network &of, const Pointers<float> &p) const {
        const size_t bytes = of.s.dim.real * sizeof(float);
        for (long w = 0; w < of.s.W; w++) memcpy(p.positions + w * of.s.dim.real, positions + w * of.s.D(), bytes);
        memcpy(p.embed_weight, embed_weight, bytes), memcpy(p.embed_bias, embed_bias, bytes);
        memcpy(p.readout_weight, readout_weight, bytes);
        *p.readout_bias = *readout_bias;
        for (size_t i = 0; i < layers.size(); i++) layers[i].unpack(of.s, of.layers[i], p.layers[i]);
    }
};

// What the network keeps of a group for the way back
struct Memory {
    float *embedded;
    std::vector<Kept> layers;
    Memory(Arena &a, const Shape &s) {
        embedded = a.take(s.cells() * s.D());
        for (long i = 0; i < s.layers; i++) layers.emplace_back(a, s);
    }
    const float *into(size_t layer) const { return layer ? layers[layer - 1].out : embedded; }
};

static void network_forward(const Network &n, long rows, const float *cells, const Memory &kept, const Scratch &z,
                            float *logits) {
    const long M = rows * n.s.W, D = n.s.D();
    for (long m = 0; m < M; m++)
        for (long j = 0; j < D; j += VL) {
            vf embedded = cells[m] * load(n.embed_weight + j) + load(n.embed_bias + j);
            store(kept.embedded + m * D + j, embedded + load(n.positions + m % n.s.W * D + j));
        }
    for (size_t i = 0; i < n.layers.size(); i++)
        layer_forward(n.s, n.layers[i], rows, kept.into(i), kept.layers[i], z);
    const float *out = kept.into(n.layers.size());
    for (long m = 0; m < M; m++) {
        vf dot = {};
        for (long j = 0; j < D; j += VL) dot += load(out + m * D + j) * load(n.readout_weight + j);
        logits[m] = sum(dot) + n.readout_bias;
    }
}

// Adds to the gradients of the parameters; those of the cells are written.
static void network_backward(const Network &n, const NetworkGrad &g, long rows, const float *cells, const Memory &kept,
                             const Scratch &z, const float *dlogits, float *dcells) {
    const long M = rows * n.s.W, D = n.s.D();
    const float *out = kept.into(n.layers.size());
    double bias = 0;  // one long sum of terms that cancel
    for (long m = 0; m < M; m++) bias += dlogits[m];
    *g.readout_bias += float(bias);
    for (long j = 0; j < D; j += VL) {
        vf weight = load(n.readout_weight + j), total = load(g.readout_weight + j);
        for (long m = 0; m < M; m++) {
            store(z.d + m * D + j, dlogits[m] * weight);
            total += dlogits[m] * load(out + m * D + j);
        }
        store(g.readout_weight + j, total);
    }
    for (size_t i = n.layers.size(); i--;)
        layer_backward(n.s, n.layers[i], g.layers[i], rows, kept.into(i), kept.layers[i], z);
    for (long m = 0; m < M; m++) {
        vf dot = {};
        for (long j = 0; j < D; j += VL) dot += load(z.d + m * D + j) * load(n.embed_weight + j);
        dcells[m] = sum(dot);
    }
    for (long j = 0; j < D; j += VL) {
        vf weight = load(g.embed_weight + j), bias = load(g.embed_bias + j);
        for (long m = 0; m < M; m++) {
            vf d = load(z.d + m * D + j);
            float *position = g.positions + m % n.s.W * D + j;
            store(position, load(position) + d);
            weight += d * cells[m], bias += d;
        }
        store(g.embed_weight + j, weight), store(g.embed_bias + j, bias);
    }
}
