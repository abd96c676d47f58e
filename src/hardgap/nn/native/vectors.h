// A vector of floats as wide as the build's registers, and what is done with one.
//
// Everything is written with the compiler's vector extensions, so the same source makes the AVX-512, the AVX2 and the
// portable build (SSE2, NEON): only VL, and how many rows of a product are held in registers (gemm.h), differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#if defined(__AVX512F__)
constexpr int VL = 16;
#elif defined(__AVX2__)
constexpr int VL = 8;
#else
constexpr int VL = 4;
#endif

typedef float vf __attribute__((vector_size(VL * 4)));
typedef uint32_t vu __attribute__((vector_size(VL * 4)));
typedef float vf_anywhere __attribute__((vector_size(VL * 4), aligned(4), may_alias));

INLINE vf load(const float *p) { return *(const vf_anywhere *)p; }
INLINE void store(float *p, vf x) { *(vf_anywhere *)p = x; }
INLINE vf all(float x) { return x - vf{}; }  // minus: x + 0 would turn -0 into 0, so it could not be left out

constexpr long padded(long n) { return (n + VL - 1) / VL * VL; }

// Lane i of the result is lane `pick(i)` of a (0 to VL-1) or of b (VL to 2 VL-1).
#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, vu{__VA_ARGS__})
#endif

template <int S, size_t... I> INLINE vf swap_lanes(vf x, std::index_sequence<I...>) { return PICK(x, x, (I ^ S)...); }
template <int S, size_t... I> INLINE void exchange(vf &a, vf &b, std::index_sequence<I...>) {
    vf low = PICK(a, b, (I & S ? VL + I - S : I)...);
    b = PICK(a, b, (I & S ? VL + I : I + S)...);
    a = low;
}
typedef std::make_index_sequence<VL> Lanes;

template <int S = VL / 2> INLINE float sum(vf x) {
    x += swap_lanes<S>(x, Lanes{});
    if constexpr (S > 1) return sum<S / 2>(x);
    return x[0];
}

template <int S = VL / 2> INLINE float largest(vf x) {
    vf other = swap_lanes<S>(x, Lanes{});
    x = other > x ? other : x;
    if constexpr (S > 1) return largest<S / 2>(x);
    return x[0];
}

// Rows become columns: blocks of 1, 2, 4, … lanes change places across the diagonal.
template <int S = 1> INLINE void transpose(vf (&row)[VL]) {
    UNROLL for (int i = 0; i < VL; i++)
        if (!(i & S)) exchange<S>(row[i], row[i | S], Lanes{});
    if constexpr (S < VL / 2) transpose<S * 2>(row);
}

// e^x for x <= 0, within 2 units in the last place down to e^-87, and that for anything less; NaN stays NaN.
INLINE vf exp_negative(vf x) {
    constexpr float lowest = -87.0f, round = 12582912.0f;  // adding 1.5 * 2^23 rounds to an integer, in the low bits
    x = x < lowest ? all(lowest) : x;
    vf shifted = x * 1.44269504088896341f + round, n = shifted - round;
    vf f = x - n * 0.693359375f + n * 2.12194440e-4f;  // ln 2 in two parts
    vf p = f * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * f + 8.3334519073e-3f;
    p = p * f + 4.1665795894e-2f;
    p = p * f + 1.6666665459e-1f;
    p = p * f + 5.0000001201e-1f;
    p = p * f * f + f + 1.0f;
    return (vf)((vu)p + ((vu)shifted << 23));  // times 2^n
}

// Numbers below 1.2e-38 are made by saturated cells and cost a hundred cycles each: they count as 0 in here.
struct DenormalsAreZero {
#if defined(__SSE__)
    unsigned before = _mm_getcsr();
    DenormalsAreZero() { _mm_setcsr(before | 0x8040); }
    ~DenormalsAreZero() { _mm_setcsr(before); }
#elif defined(__aarch64__)
    uint64_t before;
    DenormalsAreZero() { asm("mrs %0, fpcr; orr x9, %0, #0x1000000; msr fpcr, x9" : "=&r"(before) : : "x9", "memory"); }
    ~DenormalsAreZero() { asm("msr fpcr, %0" : : "r"(before) : "memory"); }
#endif
};
