// Products of small matrices: blocks of a few rows and up to GN vectors of columns are held in registers.
#pragma once

#include "vectors.h"

// How many vectors wide a block is, and how many rows it has at most if it is 1, 2, … vectors wide.
#if defined(__AVX512F__) || defined(__aarch64__)  // 32 registers
constexpr int GN = 4, ROWS[GN] = {16, 12, 8, 6};
#else  // 16 registers
constexpr int GN = 2, ROWS[GN] = {12, 6};
#endif
constexpr int NB = GN * VL;  // columns of a panel

struct Left {  // element (i, k) at `at[i * row + k * column]`
    const float *at;
    long row, column;
};
struct Right {  // column j of row k in panel p at `at[p * panel + k * row + j]`; rows of any length, a vector at a time
    const float *at;
    long row, panel = NB;
};
struct Out {  // relu(product + bias + add), and 0 where gate <= 0; NaN is neither
    float *at;
    long row;
    const float *bias = nullptr;
    const float *add = nullptr;   // rows as far apart as those of the result; may be the result itself
    const float *gate = nullptr;  // the same
    bool relu = false;
};

// f(row, vector) for all of a block, written out
template <int M, int N, class F> INLINE void everywhere(F f) {
    UNROLL for (int i = 0; i < M; i++) UNROLL for (int j = 0; j < N; j++) f(i, j);
}

template <int M, int N> static void block(long K, Left a, const float *b, long b_row, const Out &out, long m, long n) {
    vf c[M][N];
    everywhere<M, N>([&](int i, int j) { c[i][j] = vf{}; });
    for (long k = 0; k < K; k++, a.at += a.column, b += b_row) {
        vf right[N];
        UNROLL for (int j = 0; j < N; j++) right[j] = load(b + j * VL);
        everywhere<M, N>([&](int i, int j) { c[i][j] += a.at[i * a.row] * right[j]; });
    }
    auto at = [&](const float *p, int i, int j) { return p + (m + i) * out.row + n + j * VL; };
    if (out.bias) everywhere<M, N>([&](int i, int j) { c[i][j] += load(out.bias + n + j * VL); });
    if (out.add) everywhere<M, N>([&](int i, int j) { c[i][j] += load(at(out.add, i, j)); });
    if (out.relu) everywhere<M, N>([&](int i, int j) { c[i][j] = c[i][j] < 0.0f ? vf{} : c[i][j]; });
    if (out.gate) everywhere<M, N>([&](int i, int j) { c[i][j] = load(at(out.gate, i, j)) <= 0.0f ? vf{} : c[i][j]; });
    everywhere<M, N>([&](int i, int j) { store((float *)at(out.at, i, j), c[i][j]); });
}

typedef void (*Block)(long, Left, const float *, long, const Out &, long, long);
template <int N, size_t... M> INLINE Block block_of(int rows, std::index_sequence<M...>) {
    static constexpr Block of[] = {block<M + 1, N>...};
    return of[rows - 1];
}
template <int N = GN> INLINE Block block_of(int rows, int vectors) {
    if constexpr (N > 1)
        if (vectors < N) return block_of<N - 1>(rows, vectors);
    return block_of<N>(rows, std::make_index_sequence<ROWS[N - 1]>{});
}

// out = a b, with M rows, N columns (whole vectors) and K terms. Blocks are about equally high, rather than full ones
// and a low rest.
static void gemm(int M, int N, int K, Left a, Right b, const Out &out) {
    for (int n = 0; n < N; n += NB, b.at += b.panel) {
        const int vectors = N - n < NB ? (N - n) / VL : GN, most = ROWS[vectors - 1];
        const int blocks = (M + most - 1) / most, height = M / blocks, higher = M - height * blocks;
        for (int m = 0, i = 0; i < blocks; i++) {
            const int rows = height + (i < higher);
            block_of(rows, vectors)(K, {a.at + m * a.row, a.row, a.column}, b.at, b.row, out, m, n);
            m += rows;
        }
    }
}
