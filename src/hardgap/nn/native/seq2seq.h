// The encoder-decoder of nn/seq2seq.py: the teacher-forced loss with its gradients, logits, and cached greedy decoding.
//
// Its parameters are embed, input and output positions, then in pairs: of every encoder layer what network.h says,
// encoder_norm, of every decoder layer causal.qkv, causal.output, norm1, cross.qkv, cross.output, norm2, ffn.expand,
// ffn.contract, norm3, then decoder_norm and readout.
#pragma once

#include "blocks.h"

constexpr long TOKENS_OF_A_GROUP = 64, DECODED_AT_ONCE = 32;

typedef int64_t Token;

struct CrossAttention {
    Linear q, kv;  // of the one map that PyTorch has
    Ending end;
    CrossAttention(Arena &a, const Shape &s, const float *real)
        : q(a, s.dim, s.heads), kv(a, s.dim, s.kv), end(a, s, s.heads, real) {}
    void pack(const Shape &s, Pairs<const float> &p) const {
        const long D = s.dim.real;
        q.pack(*p, D, s.scale);
        kv.pack({p->weight + D * D, p->bias + D}), p++;
        end.pack(p);
    }
};
struct CrossAttentionGrad {
    LinearGrad q, kv;
    EndingGrad end;
    CrossAttentionGrad(Arena &a, const CrossAttention &of) : q(a, of.q), kv(a, of.kv), end(a, of.end) {}
    void unpack(const Shape &s, const CrossAttention &of, Pairs<float> &p) const {
        const long D = s.dim.real;
        q.unpack(of.q, *p, D, s.scale);
        kv.unpack(of.kv, {p->weight + D * D, p->bias + D}), p++;
        end.unpack(of.end, p);
    }
};
struct CrossAttentionKept {
    float *q, *kv, *pattern, *mixed;
    NormKept norm;
    CrossAttentionKept(Arena &a, const Shape &s, long keys)
        : q(a.take(s.cells() * s.heads.length())), kv(a.take(s.group * keys * s.kv.length())),
          pattern(a.take(s.group * s.attention_to(keys).pattern_floats())),
          mixed(a.take(s.cells() * s.heads.length())), norm(a, s.cells(), s.D()) {}
};

static void cross_forward(const Shape &s, long keys, const CrossAttention &b, long rows, const float *x,
                          const float *memory, const CrossAttentionKept &k, const Scratch &z) {
    const Heads h = s.attention_to(keys);
    b.q.forward(rows * s.W, x, {k.q, h.q_row});
    b.kv.forward(rows * keys, memory, {k.kv, h.kv_row});
    for (long r = 0; r < rows; r++) {
        const float *kv = k.kv + r * keys * h.kv_row;
        attention_forward(h, {k.q + r * s.W * h.q_row, kv, kv + h.q_row}, k.pattern + r * h.pattern_floats(),
                          k.mixed + r * s.W * h.q_row, z.attention);
    }
    b.end.forward(rows * s.W, k.mixed, x, k.norm, z.sums);
}
// z.d: from the gradient of the result to that of x; that of the memory is added to from.d
static void cross_backward(const Shape &s, long keys, const CrossAttention &b, const CrossAttentionGrad &g, long rows,
                           const float *x, const float *memory, const CrossAttentionKept &k, const Scratch &z,
                           const Scratch &from) {
    const long M = rows * s.W, D = s.D();
    const Heads h = s.attention_to(keys);
    g.end.backward(b.end, M, k.mixed, k.norm, z.d, {z.dmixed, h.q_row}, z.sums);
    float *dq = z.dqkv, *dkv = from.dqkv;
    for (long r = 0; r < rows; r++) {
        const long queries = r * s.W * h.q_row, at = r * keys * h.kv_row;
        const float *kv = k.kv + at;
        attention_backward(h, {k.q + queries, kv, kv + h.q_row}, k.pattern + r * h.pattern_floats(), z.dmixed + queries,
                           {dq + queries, dkv + at, dkv + at + h.q_row}, z.attention);
    }
    g.q.add(b.q, M, x, dq);
    b.q.backward(M, dq, {z.d, D, nullptr, z.d});
    g.kv.add(b.kv, rows * keys, memory, dkv);
    b.kv.backward(rows * keys, dkv, {from.d, D, nullptr, from.d});
}

struct DecoderLayer {
    SelfAttention causal;
    CrossAttention cross;
    FeedForward ffn;
    DecoderLayer(Arena &a, const Shape &s, const float *real)
        : causal(a, s, real), cross(a, s, real), ffn(a, s, real) {}
    void pack(const Shape &s, Pairs<const float> &p) const { causal.pack(s, p), cross.pack(s, p), ffn.pack(p); }
};
struct DecoderLayerGrad {
    SelfAttentionGrad causal;
    CrossAttentionGrad cross;
    FeedForwardGrad ffn;
    DecoderLayerGrad(Arena &a, const DecoderLayer &of) : causal(a, of.causal), cross(a, of.cross), ffn(a, of.ffn) {}
    void unpack(const Shape &s, const DecoderLayer &of, Pairs<float> &p) const {
        causal.unpack(s, of.causal, p), cross.unpack(s, of.cross, p), ffn.unpack(of.ffn, p);
    }
};
struct DecoderKept {
    SelfAttentionKept causal;
    CrossAttentionKept cross;
    FeedForwardKept ffn;
    DecoderKept(Arena &a, const Shape &s, long keys) : causal(a, s), cross(a, s, keys), ffn(a, s) {}
};

INLINE void add_to(float *to, const float *x, long n) {
    for (long j = 0; j < n; j += VL) store(to + j, load(to + j) + load(x + j));
}

// Where a stack begins: a token and its place, added. A linear map of the sum is the sum of the maps, and there are far
// fewer tokens and places than pairs of them in a batch: queries, keys and values of the first layer come from tables.
struct Beginning {
    float *places, *qkv_of_token, *qkv_of_place;  // [W][D], [V][3 H E], [W][3 H E]
    Beginning(Arena &a, const Shape &s, long V)
        : places(a.take(s.W * s.D())), qkv_of_token(a.take(V * s.qkv.length())),
          qkv_of_place(a.take(s.W * s.qkv.length())) {}
    void fill(const Shape &s, long V, const float *embed, const Linear &qkv) const {
        qkv.product(V, embed, {qkv_of_token, s.qkv.length()});
        qkv.forward(s.W, places, {qkv_of_place, s.qkv.length()});
    }
    void look_up(const Shape &s, const float *embed, Token token, long place, float *x, float *qkv) const {
        const long D = s.D(), Q = s.qkv.length();
        for (long j = 0; j < D; j += VL) store(x + j, load(embed + token * D + j) + load(places + place * D + j));
        for (long j = 0; j < Q; j += VL)
            store(qkv + j, load(qkv_of_token + token * Q + j) + load(qkv_of_place + place * Q + j));
    }
};
// Gradients of the same. What comes back is summed in the tables, and mapped when all of it is there.
struct BeginningGrad : Beginning {
    using Beginning::Beginning;
    void add(const Shape &s, float *embed, Token token, long place, const float *dx, const float *dqkv) const {
        const long D = s.D(), Q = s.qkv.length();
        add_to(embed + token * D, dx, D), add_to(places + place * D, dx, D);
        add_to(qkv_of_token + token * Q, dqkv, Q), add_to(qkv_of_place + place * Q, dqkv, Q);
    }
    void finish(const Shape &s, long V, const Beginning &of, const float *embed, float *dembed, const Linear &qkv,
                const LinearGrad &g) const {
        g.add_weight(qkv, V, embed, qkv_of_token);
        g.add(qkv, s.W, of.places, qkv_of_place);
        qkv.backward(V, qkv_of_token, {dembed, s.D(), nullptr, dembed});
        qkv.backward(s.W, qkv_of_place, {places, s.D(), nullptr, places});
    }
};

template <class Float> struct Seq2SeqPointers {
    Float *embed, *places[2];
    Pairs<Float> pairs;
    explicit Seq2SeqPointers(Float *const *p) : embed(p[0]), places{p[1], p[2]}, pairs((Pairs<Float>)(p + 3)) {}
};

// Rows of a matrix into ours or back
static void copy_rows(long rows, long floats, float *to, long to_row, const float *from, long from_row) {
    for (long r = 0; r < rows; r++) memcpy(to + r * to_row, from + r * from_row, floats * sizeof(float));
}

struct Seq2Seq {
    long V, depth, floats;
    Shape in, out;
    float *real, *embed;
    Beginning in_begin, out_begin;
    std::vector<Layer> encoder;
    std::vector<DecoderLayer> decoder;
    Norm encoder_norm, decoder_norm;
    Linear readout;

    // sizes: {input tokens, output places, vocabulary, dimensions, heads, hidden units, layers}; T tokens are put out
    Seq2Seq(Arena &a, const int32_t *s, long T, long group)
        : V(s[2]), depth(s[6]), floats(-a.used), in(s[0], s[3], s[4], s[5], group),
          out(T, s[3], s[4], s[5], group, true), real(a.take(in.D())), embed(a.take(V * in.D())), in_begin(a, in, V),
          out_begin(a, out, V), encoder_norm(norm_in(a, in.dim, real)), decoder_norm(norm_in(a, in.dim, real)),
          readout(a, in.dim, Axis(V)) {
        for (long i = 0; i < depth; i++) encoder.emplace_back(a, in, real), decoder.emplace_back(a, out, real);
        floats += a.used;
    }
    void pack(const Seq2SeqPointers<const float> &of) const {
        Pairs<const float> p = of.pairs;
        memset(real, 0, floats * sizeof(float));
        for (long i = 0; i < in.dim.real; i++) real[i] = 1;
        copy_rows(V, in.dim.real, embed, in.D(), of.embed, in.dim.real);
        copy_rows(in.W, in.dim.real, in_begin.places, in.D(), of.places[0], in.dim.real);
        copy_rows(out.W, in.dim.real, out_begin.places, in.D(), of.places[1], in.dim.real);
        for (const Layer &layer : encoder) layer.pack(in, p);
        pack_norm(encoder_norm, in.dim, *p++);
        for (const DecoderLayer &layer : decoder) layer.pack(out, p);
        pack_norm(decoder_norm, in.dim, *p++);
        readout.pack(*p);
        for (long v = V; v < readout.out.length(); v++) readout.bias[v] = -INFINITY;  // padding is never likely
        in_begin.fill(in, V, embed, encoder[0].attention.qkv);
        out_begin.fill(out, V, embed, decoder[0].causal.qkv);
    }
};
struct Seq2SeqGrad {
    long floats;
    float *embed;
    BeginningGrad in_begin, out_begin;
    std::vector<LayerGrad> encoder;
    std::vector<DecoderLayerGrad> decoder;
    NormGrad encoder_norm, decoder_norm;
    LinearGrad readout;

    Seq2SeqGrad(Arena &a, const Seq2Seq &of)
        : floats(-a.used), embed(a.take(of.V * of.in.D())), in_begin(a, of.in, of.V), out_begin(a, of.out, of.V),
          encoder_norm(norm_grad_in(a, of.encoder_norm)),
          decoder_norm(norm_grad_in(a, of.decoder_norm)), readout(a, of.readout) {
        for (const Layer &layer : of.encoder) encoder.emplace_back(a, layer);
        for (const DecoderLayer &layer : of.decoder) decoder.emplace_back(a, layer);
        floats += a.used;
    }
    void clear() const { memset(embed, 0, floats * sizeof(float)); }
    void finish(const Seq2Seq &n) const {
        in_begin.finish(n.in, n.V, n.in_begin, n.embed, embed, n.encoder[0].attention.qkv, encoder[0].attention.qkv);
        out_begin.finish(n.out, n.V, n.out_begin, n.embed, embed, n.decoder[0].causal.qkv, decoder[0].causal.qkv);
    }
    void unpack(const Seq2Seq &n, const Seq2SeqPointers<float> &to, long places) const {
        Pairs<float> p = to.pairs;
        const long real = n.in.dim.real, D = n.in.D();
        copy_rows(n.V, real, to.embed, real, embed, D);
        copy_rows(n.in.W, real, to.places[0], real, in_begin.places, D);
        copy_rows(n.out.W, real, to.places[1], real, out_begin.places, D);
        memset(to.places[1] + n.out.W * real, 0, (places - n.out.W) * real * sizeof(float));  // no token came so far
        for (size_t i = 0; i < encoder.size(); i++) encoder[i].unpack(n.in, n.encoder[i], p);
        unpack_norm(encoder_norm, n.in.dim, *p++);
        for (size_t i = 0; i < decoder.size(); i++) decoder[i].unpack(n.out, n.decoder[i], p);
        unpack_norm(decoder_norm, n.in.dim, *p++);
        readout.unpack(n.readout, *p);
    }
};

// What the encoder keeps of a group, and then the decoder
struct EncoderMemory {
    float *embedded;
    std::vector<Kept> layers;
    NormKept norm;
    EncoderMemory(Arena &a, const Seq2Seq &n)
        : embedded(a.take(n.in.cells() * n.in.D())), norm(a, n.in.cells(), n.in.D()) {
        for (long i = 0; i < n.depth; i++) layers.emplace_back(a, n.in);
    }
    const float *into(size_t layer) const { return layer ? layers[layer - 1].out() : embedded; }
};
struct DecoderMemory {
    float *embedded, *logits;
    std::vector<DecoderKept> layers;
    NormKept norm;
    DecoderMemory(Arena &a, const Seq2Seq &n)
        : embedded(a.take(n.out.cells() * n.in.D())), logits(a.take(n.out.cells() * n.readout.out.length())),
          norm(a, n.out.cells(), n.in.D()) {
        for (long i = 0; i < n.depth; i++) layers.emplace_back(a, n.out, n.in.W);
    }
    const float *into(size_t layer) const { return layer ? layers[layer - 1].ffn.norm.out : embedded; }
};

static void encode(const Seq2Seq &n, long rows, const Token *tokens, const EncoderMemory &k, const Scratch &z) {
    const long M = rows * n.in.W, D = n.in.D(), Q = n.in.qkv.length();
    for (long m = 0; m < M; m++)
        n.in_begin.look_up(n.in, n.embed, tokens[m], m % n.in.W, k.embedded + m * D, k.layers[0].attention.qkv + m * Q);
    for (size_t i = 0; i < n.encoder.size(); i++) {
        const Kept &kept = k.layers[i];
        if (i) n.encoder[i].attention.qkv.forward(M, k.into(i), {kept.attention.qkv, Q});
        self_forward(n.in, n.encoder[i].attention, rows, k.into(i), kept.attention, z);
        feed_forward(n.encoder[i].ffn, M, kept.attention.norm.out, kept.ffn, z.sums);
    }
    norm_forward(n.encoder_norm, M, k.into(n.depth), k.norm.hat, k.norm.inverse, k.norm.out);
}

// z.d holds the gradient of the encoded input.
static void encode_backward(const Seq2Seq &n, const Seq2SeqGrad &g, long rows, const Token *tokens,
                            const EncoderMemory &k, const Scratch &z) {
    const long M = rows * n.in.W, D = n.in.D(), Q = n.in.qkv.length();
    norm_backward(n.encoder_norm, g.encoder_norm, M, k.norm.hat, k.norm.inverse, z.d);
    for (size_t i = n.encoder.size(); i--;) {
        const Kept &kept = k.layers[i];
        feed_backward(n.encoder[i].ffn, g.encoder[i].ffn, M, kept.attention.norm.out, kept.ffn, z);
        self_backward(n.in, n.encoder[i].attention, g.encoder[i].attention, rows, kept.attention, z);
        if (i) qkv_backward(n.encoder[i].attention, g.encoder[i].attention, M, k.into(i), z);
    }
    for (long m = 0; m < M; m++) g.in_begin.add(n.in, g.embed, tokens[m], m % n.in.W, z.d + m * D, z.dqkv + m * Q);
}

// Token w of row r is tokens[r * stride + w].
static void decode(const Seq2Seq &n, long rows, const Token *tokens, long stride, const float *memory,
                   const DecoderMemory &k, const Scratch &z) {
    const long T = n.out.W, M = rows * T, D = n.in.D(), Q = n.in.qkv.length();
    for (long m = 0; m < M; m++)
        n.out_begin.look_up(n.out, n.embed, tokens[m / T * stride + m % T], m % T, k.embedded + m * D,
                            k.layers[0].causal.qkv + m * Q);
    for (size_t i = 0; i < n.decoder.size(); i++) {
        const DecoderLayer &layer = n.decoder[i];
        const DecoderKept &kept = k.layers[i];
        if (i) layer.causal.qkv.forward(M, k.into(i), {kept.causal.qkv, Q});
        self_forward(n.out, layer.causal, rows, k.into(i), kept.causal, z);
        cross_forward(n.out, n.in.W, layer.cross, rows, kept.causal.norm.out, memory, kept.cross, z);
        feed_forward(layer.ffn, M, kept.cross.norm.out, kept.ffn, z.sums);
    }
    norm_forward(n.decoder_norm, M, k.into(n.depth), k.norm.hat, k.norm.inverse, k.norm.out);
    n.readout.forward(M, k.norm.out, {k.logits, n.readout.out.length()});
}

// k.logits hold their own gradients; that of the encoded input goes to from.d.
static void decode_backward(const Seq2Seq &n, const Seq2SeqGrad &g, long rows, const Token *tokens, long stride,
                            const float *memory, const DecoderMemory &k, const Scratch &z, const Scratch &from) {
    const long T = n.out.W, M = rows * T, D = n.in.D(), Q = n.in.qkv.length();
    g.readout.add(n.readout, M, k.norm.out, k.logits);
    n.readout.backward(M, k.logits, {z.d, D});
    norm_backward(n.decoder_norm, g.decoder_norm, M, k.norm.hat, k.norm.inverse, z.d);
    memset(from.d, 0, rows * n.in.W * D * sizeof(float));
    for (size_t i = n.decoder.size(); i--;) {
        const DecoderLayer &layer = n.decoder[i];
        const DecoderLayerGrad &grad = g.decoder[i];
        const DecoderKept &kept = k.layers[i];
        feed_backward(layer.ffn, grad.ffn, M, kept.cross.norm.out, kept.ffn, z);
        cross_backward(n.out, n.in.W, layer.cross, grad.cross, rows, kept.causal.norm.out, memory, kept.cross, z, from);
        self_backward(n.out, layer.causal, grad.causal, rows, kept.causal, z);
        if (i) qkv_backward(layer.causal, grad.causal, M, k.into(i), z);
    }
    for (long m = 0; m < M; m++)
        g.out_begin.add(n.out, g.embed, tokens[m / T * stride + m % T], m % T, z.d + m * D, z.dqkv + m * Q);
}

// z becomes e^(z - largest); what was the largest, and the sum
struct Exponentials {
    float top, total;
    Exponentials(long N, float *z) {
        vf most = load(z), all_of = {};
        for (long j = VL; j < N; j += VL) most = load(z + j) > most ? load(z + j) : most;
        top = largest(most);
        for (long j = 0; j < N; j += VL) {
            vf e = exp_negative(load(z + j) - top);
            store(z + j, e);
            all_of += e;
        }
        total = sum(all_of);
    }
};

// Cross-entropy of the token that follows; its logits become their gradient, times a weight.
static double token_loss(long N, float *z, Token next, float weight) {
    const float logit = z[next];
    const Exponentials e(N, z);
    const float by = weight / e.total;
    for (long j = 0; j < N; j += VL) store(z + j, load(z + j) * by);
    z[next] -= weight;
    return double(e.top - logit) + logf(e.total);
}

// Greedy decoding of a group. Examples lie side by side in lanes: one query each, so that attention is whole vectors.
struct Greedy {
    const Seq2Seq &n;
    const Scratch &z;  // of so many rows of one token
    float *qkv, *q, *scores, *mix, *mixed, *logits, *embedded;
    std::vector<float *> tokens, memory;  // of a layer, keys and values so far [T][2 H E][lanes] and of the input
    NormKept causal, cross;
    FeedForwardKept ffn;

    Greedy(Arena &a, const Seq2Seq &n, const Shape &one, const Scratch &z)
        : n(n), z(z), causal(a, one.group, one.D()), cross(a, one.group, one.D()), ffn(a, one) {
        const long G = one.group, HE = one.heads.length(), lanes = padded(G);
        qkv = a.take(std::max(G * 3, G * n.in.W * 2) * HE), q = a.take(HE * lanes);
        scores = a.take(std::max(n.in.W, n.out.W) * lanes), mix = a.take(HE * lanes), mixed = a.take(G * HE);
        logits = a.take(G * n.readout.out.length()), embedded = a.take(G * one.D());
        for (long i = 0; i < n.depth; i++) {
            tokens.push_back(a.take(n.out.W * 2 * HE * lanes));
            memory.push_back(a.take(n.in.W * 2 * HE * lanes));
        }
    }
    // Keys and values of the encoded input
    void remember(long rows, const float *encoded) const {
        const long S = n.in.W, KV = n.in.kv.length(), L = padded(rows);
        for (size_t i = 0; i < n.decoder.size(); i++) {
            n.decoder[i].cross.kv.forward(rows * S, encoded, {qkv, KV});
            for (long s = 0; s < S; s++) transpose_in(rows, KV, qkv + s * KV, S * KV, memory[i] + s * KV * L, L);
        }
    }
    // One query an example, in q, to so many keys; what is mixed comes row by row
    void attend(long rows, long keys, const float *kv) const {
        const long E = n.in.heads.padded_step, HE = n.in.heads.length(), L = padded(rows);
        for (long at = 0; at < HE; at += E) {
            for (long k = 0; k < keys; k++)
                for (long i = 0; i < L; i += VL) {
                    vf score = {};
                    for (long e = at; e < at + E; e++)
                        score += load(q + e * L + i) * load(kv + (k * 2 * HE + e) * L + i);
                    store(scores + k * L + i, score);
                }
            softmax_forward(keys, scores, L, L);
            for (long e = at; e < at + E; e++)
                for (long i = 0; i < L; i += VL) {
                    vf sum = {};
                    for (long k = 0; k < keys; k++)
                        sum += load(scores + k * L + i) * load(kv + ((k * 2 + 1) * HE + e) * L + i);
                    store(mix + e * L + i, sum);
                }
        }
        transpose_out(rows, HE, mix, L, mixed, HE);
    }
    // Logits after token t of every example, which stands at token[t * stride]
    void step(long rows, long t, const Token *token, long stride) const {
        const long D = n.in.D(), HE = n.in.heads.length(), Q = 3 * HE, L = padded(rows);
        for (long r = 0; r < rows; r++)
            n.out_begin.look_up(n.out, n.embed, token[r * stride], t, embedded + r * D, qkv + r * Q);
        const float *x = embedded;
        for (size_t i = 0; i < n.decoder.size(); i++) {
            const DecoderLayer &layer = n.decoder[i];
            if (i) layer.causal.qkv.forward(rows, x, {qkv, Q});
            transpose_in(rows, HE, qkv, Q, q, L);
            transpose_in(rows, 2 * HE, qkv + HE, Q, tokens[i] + t * 2 * HE * L, L);
            attend(rows, t + 1, tokens[i]);
            layer.causal.end.forward(rows, mixed, x, causal, z.sums);
            layer.cross.q.forward(rows, causal.out, {mixed, HE});
            transpose_in(rows, HE, mixed, HE, q, L);
            attend(rows, n.in.W, memory[i]);
            layer.cross.end.forward(rows, mixed, causal.out, cross, z.sums);
            feed_forward(layer.ffn, rows, cross.out, ffn, z.sums);
            x = ffn.norm.out;
        }
        norm_forward(n.decoder_norm, rows, x, causal.hat, causal.inverse, causal.out);
        n.readout.forward(rows, causal.out, {logits, n.readout.out.length()});
    }
    // The likeliest token of an example (the first of equals, 0 if nothing can be compared) and its probability
    Token choose(long row, float *confidence) const {
        float *of_row = logits + row * n.readout.out.length();
        const Exponentials e(n.readout.out.length(), of_row);
        *confidence = 1 / e.total;
        Token best = 0;
        while (e.total == e.total && of_row[best] < 1) best++;
        return best;
    }
};
