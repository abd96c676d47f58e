// LayerNorm and attention, forward and backward, on rows whose length is padded to whole vectors with zeros.
#pragma once

#include <cmath>

#include "dropout.h"
#include "gemm.h"

constexpr float LAYER_NORM_EPS = 1e-5f;

// to[j] += sum of column j
static void add_columns(long M, long N, const float *x, float *to) {
    for (long j = 0; j < N; j += VL) {
        vf s = load(to + j);
        for (long m = 0; m < M; m++) s += load(x + m * N + j);
        store(to + j, s);
    }
}

struct Norm {
    const float *weight, *bias;
    const float *real;  // 1 for a dimension of the network, 0 for padding
    long D;             // with padding
    float per_dim;      // 1 over the number of real ones
};
struct NormGrad {
    float *weight, *bias;
};

// hat = (x - mean) / deviation, out = hat * weight + bias
static void norm_forward(const Norm &norm, long M, const float *x, float *hat, float *inverse, float *out) {
    const long D = norm.D;
    for (long m = 0; m < M; m++, x += D, hat += D, out += D) {
        vf s = {}, q = {};
        for (long j = 0; j < D; j += VL) s += load(x + j);
        vf mean = all(sum(s) * norm.per_dim);
        for (long j = 0; j < D; j += VL) {
            vf v = (load(x + j) - mean) * load(norm.real + j);
            q += v * v;
            store(hat + j, v);
        }
        float r = inverse[m] = 1.0f / sqrtf(sum(q) * norm.per_dim + LAYER_NORM_EPS);
        for (long j = 0; j < D; j += VL) {
            vf v = load(hat + j) * r;
            store(hat + j, v);
            store(out + j, v * load(norm.weight + j) + load(norm.bias + j));
        }
    }
}

// The gradient of what was normalised takes the place of that of the result.
static void norm_backward(const Norm &norm, const NormGrad &grad, long M, const float *hat, const float *inverse, float *d) {
    const long D = norm.D;
    for (long j = 0; j < D; j += VL) {
        vf weight = load(grad.weight + j), bias = load(grad.bias + j);
        for (long m = 0; m < M; m++) {
            vf y = load(d + m * D + j);
            bias += y, weight += y * load(hat + m * D + j);
        }
        store(grad.weight + j, weight), store(grad.bias + j, bias);
    }
    for (long m = 0; m < M; m++, hat += D, d += D) {
        vf s = {}, q = {};
        for (long j = 0; j < D; j += VL) {
            vf u = load(d + j) * load(norm.weight + j);
            s += u, q += u * load(hat + j);
        }
        vf mean = all(sum(s) * norm.per_dim), slope = all(sum(q) * norm.per_dim);
        for (long j = 0; j < D; j += VL) {
            vf u = load(d + j) * load(norm.weight + j);
            store(d + j, inverse[m] * ((u - mean) - load(hat + j) * slope) * load(norm.real + j));
        }
    }
}

// to[e][i] = from[i][e] for n rows and E columns; columns of `to` from n on are 0, up to whole vectors
static void transpose_in(long n, long E, const float *from, long from_row, float *to, long to_row) {
    for (long i0 = 0; i0 < n; i0 += VL)
        for (long e0 = 0; e0 < E; e0 += VL) {
            vf block[VL];
            UNROLL for (int i = 0; i < VL; i++) block[i] = i0 + i < n ? load(from + (i0 + i) * from_row + e0) : vf{};
            transpose(block);
            UNROLL for (int e = 0; e < VL; e++) store(to + (e0 + e) * to_row + i0, block[e]);
        }
}
// to[i][e] = from[e][i] for i < n
static void transpose_out(long n, long E, const float *from, long from_row, float *to, long to_row) {
    for (long i0 = 0; i0 < n; i0 += VL)
        for (long e0 = 0; e0 < E; e0 += VL) {
            vf block[VL];
            UNROLL for (int e = 0; e < VL; e++) block[e] = load(from + (e0 + e) * from_row + i0);
            transpose(block);
            if (i0 + VL <= n) {
                UNROLL for (int i = 0; i < VL; i++) store(to + (i0 + i) * to_row + e0, block[i]);
            } else
                UNROLL for (int i = 0; i < VL; i++)
                    if (i0 + i < n) store(to + (i0 + i) * to_row + e0, block[i]);
        }
}

// A panel of attention: rows are the W keys, columns are up to QUERIES queries, L with padding. Softmax runs down the
// columns, N vectors of them at a time, so that columns beyond the last query (zeros) concern nobody.
constexpr long QUERIES = 64;

template <int N> static void softmax_forward(long W, float *p, long L) {
    vf top[N], total[N] = {};
    for (int j = 0; j < N; j++) top[j] = load(p + j * VL);
    for (long k = 1; k < W; k++)
        for (int j = 0; j < N; j++) {
            vf s = load(p + k * L + j * VL);
            top[j] = s > top[j] ? s : top[j];
        }
    for (long k = 0; k < W; k++)
        for (int j = 0; j < N; j++) {
            vf e = exp_negative(load(p + k * L + j * VL) - top[j]);
            store(p + k * L + j * VL, e);
            total[j] += e;
        }
    for (int j = 0; j < N; j++) total[j] = 1.0f / total[j];
    for (long k = 0; k < W; k++)
        for (int j = 0; j < N; j++) store(p + k * L + j * VL, load(p + k * L + j * VL) * total[j]);
}
// d, the gradient of the pattern p, becomes that of the scores
template <int N> static void softmax_backward(long W, const float *p, float *d, long L) {
    vf dot[N] = {};
    for (long k = 0; k < W; k++)
        for (int j = 0; j < N; j++) dot[j] += load(p + k * L + j * VL) * load(d + k * L + j * VL);
    for (long k = 0; k < W; k++)
        for (int j = 0; j < N; j++) {
            long at = k * L + j * VL;
            store(d + at, load(p + at) * (load(d + at) - dot[j]));
        }
}
template <int N = 4> INLINE void softmax_forward(long W, float *p, long L, long columns) {
    for (; columns >= N * VL; columns -= N * VL, p += N * VL) softmax_forward<N>(W, p, L);
    if constexpr (N > 1) softmax_forward<N - 1>(W, p, L, columns);
}
template <int N = 4> INLINE void softmax_backward(long W, const float *p, float *d, long L, long columns) {
    for (; columns >= N * VL; columns -= N * VL, p += N * VL, d += N * VL) softmax_backward<N>(W, p, d, L);
    if constexpr (N > 1) softmax_backward<N - 1>(W, p, d, L, columns);
}

struct Heads {
    long queries, keys, H, E;  // of one row: queries, keys; heads, (padded) dimensions of a head
    long q_row, kv_row;        // from one query to the next, and from one key (or value) to the next
    bool causal = false;       // a query sees no key after its own
    long pattern_floats() const { return H * keys * padded(queries); }
    long scratch_floats() const { return (keys + 2 * E) * QUERIES; }
};
template <class Float> struct QKV {
    Float *q, *k, *v;
    QKV at(long queries, long keys) const { return {q + queries, k + keys, v + keys}; }
};

// Put a value where the key of a panel comes after the query; `first` is the panel's first query.
static void set_later(const Heads &h, long first, float *panel, long L, float value) {
    static const vf lane = [] {
        vf x;
        for (int i = 0; i < VL; i++) x[i] = i;
        return x;
    }();
    for (long k = first + 1; k < h.keys; k++)
        for (long j = 0; j < L && first + j < k; j += VL) {
            float *at = panel + k * L + j;
            store(at, lane < float(k - first - j) ? all(value) : load(at));
        }
}

// mixed [queries][H E] of one row; the patterns are kept for the way back. Queries come scaled.
static void attention_forward(const Heads &h, QKV<const float> at, float *pattern, float *mixed, float *scratch,
                              const Dropout &drop = {}) {
    const long K = h.keys, E = h.E, HE = h.H * E;
    const float *const patterns = pattern;
    for (long head = 0; head < h.H; head++, at = at.at(E, E), mixed += E)
        for (long first = 0; first < h.queries; first += QUERIES) {
            long n = h.queries - first < QUERIES ? h.queries - first : QUERIES, L = padded(n);
            float *across = scratch, *mix = scratch + E * QUERIES, *kept = scratch + 2 * E * QUERIES;
            transpose_in(n, E, at.q + first * h.q_row, h.q_row, across, L);
            gemm(K, L, E, {at.k, h.kv_row, 1}, {across, L}, {pattern, L});
            if (h.causal) set_later(h, first, pattern, L, -INFINITY);
            softmax_forward(K, pattern, L, L);
            if (h.causal) set_later(h, first, pattern, L, 0);  // e^-87 is not nothing
            const float *used = drop ? drop.from(pattern - patterns).keep(K * L, pattern, kept) : pattern;
            gemm(E, L, K, {at.v, 1, h.kv_row}, {used, L}, {mix, L});
            transpose_out(n, E, mix, L, mixed + first * HE, HE);
            pattern += K * L;
        }
}

// The gradients of queries, keys and values (written) from that of `mixed`
static void attention_backward(const Heads &h, QKV<const float> at, const float *pattern, const float *dmixed,
                               QKV<float> d, float *scratch, const Dropout &drop = {}) {
    const long K = h.keys, E = h.E, HE = h.H * E;
    const float *const patterns = pattern;
    for (long head = 0; head < h.H; head++, at = at.at(E, E), d = d.at(E, E), dmixed += E)
        for (long first = 0; first < h.queries; first += QUERIES) {
            long n = h.queries - first < QUERIES ? h.queries - first : QUERIES, L = padded(n);
            float *across = scratch, *dscores = scratch + 2 * E * QUERIES;
            const float *dmix = dmixed + first * HE, *q = at.q + first * h.q_row;
            const Dropout here = drop.from(pattern - patterns);
            const float *used = drop ? here.keep(K * L, pattern, dscores) : pattern;
            gemm(K, E, n, {used, L, 1}, {dmix, HE}, {d.v, h.kv_row, nullptr, first ? d.v : nullptr});
            transpose_in(n, E, dmix, HE, across, L);
            gemm(K, L, E, {at.v, h.kv_row, 1}, {across, L}, {dscores, L});
            if (drop) here.keep(K * L, dscores, dscores);
            softmax_backward(K, pattern, dscores, L, L);
            gemm(E, L, K, {at.k, 1, h.kv_row}, {dscores, L}, {across, L});
            transpose_out(n, E, across, L, d.q + first * h.q_row, h.q_row);
            gemm(K, E, n, {dscores, L, 1}, {q, h.q_row}, {d.k, h.kv_row, nullptr, first ? d.k : nullptr});
            pattern += K * L;
        }
}
