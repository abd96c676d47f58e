// Dropout. Which numbers are dropped is a pure function of a key and of where they lie in an array: the way back drops
// the same ones, and nothing has to be kept.
#pragma once

#include "vectors.h"

struct Dropout {
    uint32_t key = 0;
    uint32_t below = 0;  // a number is dropped if what is drawn for it is below this; if it is 0, none is
    float scale = 1;     // of those that are not
    uint32_t first = 0;  // where in the array a piece of it begins

    explicit operator bool() const { return below != 0; }
    // Of a part: a timestep, a layer, a place in it
    Dropout of(uint32_t part) const { return {scrambled(key ^ scrambled(part + 1)), below, scale}; }
    // Of a piece of an array
    Dropout from(long at) const { return {key, below, scale, first + uint32_t(at)}; }

    // to = what is kept of x; NaN stays NaN. Whole vectors; both may be the same.
    const float *keep(long n, const float *x, float *to) const {
        for (long i = 0; i < n; i += VL) store(to + i, load(x + i) * factors(i, Lanes{}));
        return to;
    }
    // x = what is kept of it, and y
    void keep_and_add(long n, float *x, const float *y) const {
        for (long i = 0; i < n; i += VL) store(x + i, load(x + i) * factors(i, Lanes{}) + load(y + i));
    }

  private:
    // Every bit of the result hangs on every bit of x (a well-known hash of 32 bits).
    template <class Bits> INLINE Bits scrambled(Bits x) {
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15) * 0x846ca68bu;
        return x ^ x >> 16;
    }
    template <size_t... I> INLINE vu places(uint32_t i, std::index_sequence<I...>) { return vu{(i + uint32_t(I))...}; }
    template <size_t... I> vf factors(long i, std::index_sequence<I...> lanes) const {
        vu drawn = scrambled(places(first + uint32_t(i), lanes) ^ key), least = below - vu{};
        return drawn < least ? vf{} : all(scale);
    }
};
