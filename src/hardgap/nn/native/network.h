// The encoder of nn/encoder.py: cells -> logits, and the way back, for a group of rows.
//
// Its parameters are positions, then in pairs embed, of every layer attention.qkv, attention.output, norm1, ffn.expand,
// ffn.contract, norm2, and readout.
#pragma once

#include "blocks.h"

constexpr long CELLS_OF_A_GROUP = 128;

template <class Float> struct Pointers {
    Float *positions;
    Pairs<Float> pairs;
    explicit Pointers(Float *const *p) : positions(p[0]), pairs((Pairs<Float>)(p + 1)) {}
};

// The whole network in our layout
struct Network {
    Shape s;
    long depth;
    float *begin, *real, *embed_weight, *embed_bias, *readout_weight, *positions;
    float readout_bias = 0;
    long floats;
    std::vector<Layer> layers;

    // sizes: {cells in a row, dimensions, heads, hidden units, layers}
    Network(Arena &a, const int32_t *sizes)
        : s(sizes[0], sizes[1], sizes[2], sizes[3], group_of(sizes[0], CELLS_OF_A_GROUP)), depth(sizes[4]) {
        const long D = s.D(), before = a.used;
        begin = real = a.take(D), embed_weight = a.take(D), embed_bias = a.take(D), readout_weight = a.take(D);
        positions = a.take(s.W * D);
        for (long i = 0; i < depth; i++) layers.emplace_back(a, s, real);
        floats = a.used - before;
    }
    void pack(const Pointers<const float> &of) {
        Pairs<const float> p = of.pairs;
        const size_t bytes = s.dim.real * sizeof(float);
        memset(begin, 0, floats * sizeof(float));
        for (long i = 0; i < s.dim.real; i++) real[i] = 1;
        for (long w = 0; w < s.W; w++) memcpy(positions + w * s.D(), of.positions + w * s.dim.real, bytes);
        memcpy(embed_weight, p->weight, bytes), memcpy(embed_bias, p->bias, bytes), p++;
        for (const Layer &layer : layers) layer.pack(s, p);
        memcpy(readout_weight, p->weight, bytes);
        readout_bias = *p->bias;
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
        for (const Layer &layer : of.layers) layers.emplace_back(a, layer);
        floats = a.used - before;
    }
    void clear() const { memset(begin, 0, floats * sizeof(float)); }
    void unpack(const Network &of, const Pointers<float> &to) const {
        Pairs<float> p = to.pairs;
        const size_t bytes = of.s.dim.real * sizeof(float);
        for (long w = 0; w < of.s.W; w++) memcpy(to.positions + w * of.s.dim.real, positions + w * of.s.D(), bytes);
        memcpy(p->weight, embed_weight, bytes), memcpy(p->bias, embed_bias, bytes), p++;
        for (size_t i = 0; i < layers.size(); i++) layers[i].unpack(of.s, of.layers[i], p);
        memcpy(p->weight, readout_weight, bytes);
        *p->bias = *readout_bias;
    }
};

// What the network keeps of a group for the way back
struct Memory {
    float *embedded;
    std::vector<Kept> layers;
    Memory(Arena &a, const Network &n) {
        embedded = a.take(n.s.cells() * n.s.D());
        for (long i = 0; i < n.depth; i++) layers.emplace_back(a, n.s);
    }
    const float *into(size_t layer) const { return layer ? layers[layer - 1].out() : embedded; }
};

static void network_forward(const Network &n, long rows, const float *cells, const Memory &kept, const Scratch &z,
                            float *logits) {
    const long M = rows * n.s.W, D = n.s.D();
    for (long m = 0; m < M; m++)
        for (long j = 0; j < D; j += VL) {
            vf embedded = cells[m] * load(n.embed_weight + j) + load(n.embed_bias + j);
            store(kept.embedded + m * D + j, embedded + load(n.positions + m % n.s.W * D + j));
        }
    for (size_t i = 0; i < n.layers.size(); i++) {
        const Kept &k = kept.layers[i];
        n.layers[i].attention.qkv.forward(M, kept.into(i), {k.attention.qkv, n.s.qkv.length()});
        self_forward(n.s, n.layers[i].attention, rows, kept.into(i), k.attention, z);
        feed_forward(n.layers[i].ffn, M, k.attention.norm.out, k.ffn, z.sums);
    }
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
    for (size_t i = n.layers.size(); i--;) {
        const Kept &k = kept.layers[i];
        feed_backward(n.layers[i].ffn, g.layers[i].ffn, M, k.attention.norm.out, k.ffn, z);
        self_backward(n.s, n.layers[i].attention, g.layers[i].attention, rows, k.attention, z);
        qkv_backward(n.layers[i].attention, g.layers[i].attention, M, kept.into(i), z);
    }
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
