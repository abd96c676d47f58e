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

// What a cell becomes at its place: cell * slope + places[w], N numbers. The embedding is of this kind, and so is every
// linear map of it: queries, keys and values of the first layer need no product, neither forth nor back.
struct Entry {
    float *slope, *places;  // [N], [W][N]
    long W, N;
    Entry(Arena &a, long W, long N) : slope(a.take(N)), places(a.take(W * N)), W(W), N(N) {}
    void forward(long M, const float *cells, float *to) const {
        for (long m = 0; m < M; m++)
            for (long j = 0; j < N; j += VL)
                store(to + m * N + j, cells[m] * load(slope + j) + load(places + m % W * N + j));
    }
    // This one holds gradients: those of slope, places and cells are added to.
    void backward(const Entry &of, long M, const float *cells, const float *d, float *dcells) const {
        for (long j = 0; j < N; j += VL) {
            vf total = {};
            for (long m = 0; m < M;)
                for (float *place = places + j, *end = place + W * N; place < end; place += N, m++) {
                    vf x = load(d + m * N + j);
                    total += cells[m] * x;
                    store(place, load(place) + x);
                }
            store(slope + j, load(slope + j) + total);
        }
        for (long m = 0; m < M; m++) {
            vf dot = {};
            for (long j = 0; j < N; j += VL) dot += load(d + m * N + j) * load(of.slope + j);
            dcells[m] += sum(dot);
        }
    }
};

// The whole network in our layout
struct Network {
    Shape s;
    long depth, floats;
    float *real, *readout_weight;
    float readout_bias = 0;
    Entry embed, qkv;  // the embedding; queries, keys and values of the first layer
    std::vector<Layer> layers;

    // sizes: {cells in a row, dimensions, heads, hidden units, layers (one or more)}
    Network(Arena &a, const int32_t *sizes)
        : s(sizes[0], sizes[1], sizes[2], sizes[3], group_of(sizes[0], CELLS_OF_A_GROUP)), depth(sizes[4]),
          floats(-a.used), real(a.take(s.D())), readout_weight(a.take(s.D())), embed(a, s.W, s.D()),
          qkv(a, s.W, s.qkv.length()) {
        for (long i = 0; i < depth; i++) layers.emplace_back(a, s, real);
        floats += a.used;
    }
    void pack(const Pointers<const float> &of) {
        Pairs<const float> p = of.pairs;
        const size_t bytes = s.dim.real * sizeof(float);
        memset(real, 0, floats * sizeof(float));
        for (long i = 0; i < s.dim.real; i++) real[i] = 1;
        memcpy(embed.slope, p->weight, bytes);
        for (long w = 0; w < s.W; w++)
            for (long i = 0; i < s.dim.real; i++)
                embed.places[w * embed.N + i] = p->bias[i] + of.positions[w * s.dim.real + i];
        p++;
        for (const Layer &layer : layers) layer.pack(s, p);
        memcpy(readout_weight, p->weight, bytes);
        readout_bias = *p->bias;
        const Linear &map = layers[0].attention.qkv;
        map.product(1, embed.slope, {qkv.slope, qkv.N});
        map.forward(s.W, embed.places, {qkv.places, qkv.N});
    }
};
struct NetworkGrad {
    long floats;
    float *readout_weight, *readout_bias;
    Entry embed, qkv;
    std::vector<LayerGrad> layers;

    NetworkGrad(Arena &a, const Network &of)
        : floats(-a.used), readout_weight(a.take(of.s.D())), readout_bias(a.take(1)), embed(a, of.s.W, of.embed.N),
          qkv(a, of.s.W, of.qkv.N) {
        for (const Layer &layer : of.layers) layers.emplace_back(a, layer);
        floats += a.used;
    }
    void clear() const { memset(readout_weight, 0, floats * sizeof(float)); }
    // When all that came back to the first layer's queries, keys and values is summed: through the map that made them
    void finish(const Network &of) const {
        const Linear &map = of.layers[0].attention.qkv;
        const LinearGrad &grad = layers[0].attention.qkv;
        grad.add_weight(map, 1, of.embed.slope, qkv.slope);
        grad.add(map, of.s.W, of.embed.places, qkv.places);
        map.backward(1, qkv.slope, {embed.slope, embed.N, nullptr, embed.slope});
        map.backward(of.s.W, qkv.places, {embed.places, embed.N, nullptr, embed.places});
    }
    void unpack(const Network &of, const Pointers<float> &to) const {
        Pairs<float> p = to.pairs;
        const size_t bytes = of.s.dim.real * sizeof(float);
        memcpy(p->weight, embed.slope, bytes), memset(p->bias, 0, bytes);
        for (long w = 0; w < of.s.W; w++)
            for (long i = 0; i < of.s.dim.real; i++) {
                float d = to.positions[w * of.s.dim.real + i] = embed.places[w * embed.N + i];
                p->bias[i] += d;
            }
        p++;
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
                            float *logits, const Dropout &drop = {}) {
    const long M = rows * n.s.W, D = n.s.D();
    n.embed.forward(M, cells, kept.embedded);
    n.qkv.forward(M, cells, kept.layers[0].attention.qkv);
    for (size_t i = 0; i < n.layers.size(); i++) {
        const Kept &k = kept.layers[i];
        if (i) n.layers[i].attention.qkv.forward(M, kept.into(i), {k.attention.qkv, n.s.qkv.length()});
        self_forward(n.s, n.layers[i].attention, rows, kept.into(i), k.attention, z, drop.of(i));
        feed_forward(n.layers[i].ffn, M, k.attention.norm.out, k.ffn, z.sums, drop.of(i));
    }
    const float *out = kept.into(n.layers.size());
    for (long m = 0; m < M; m++) {
        vf dot = {};
        for (long j = 0; j < D; j += VL) dot += load(out + m * D + j) * load(n.readout_weight + j);
        logits[m] = sum(dot) + n.readout_bias;
    }
}

// Adds to the gradients of the parameters, which `finish` then completes; those of the cells are written.
static void network_backward(const Network &n, const NetworkGrad &g, long rows, const float *cells, const Memory &kept,
                             const Scratch &z, const float *dlogits, float *dcells, const Dropout &drop = {}) {
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
        feed_backward(n.layers[i].ffn, g.layers[i].ffn, M, k.attention.norm.out, k.ffn, z, drop.of(i));
        self_backward(n.s, n.layers[i].attention, g.layers[i].attention, rows, k.attention, z, drop.of(i));
        if (i) qkv_backward(n.layers[i].attention, g.layers[i].attention, M, kept.into(i), z);
    }
    memset(dcells, 0, M * sizeof(float));
    g.embed.backward(n.embed, M, cells, z.d, dcells);
    g.qkv.backward(n.qkv, M, cells, z.dqkv, dcells);
}
