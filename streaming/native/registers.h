// Multiplication with sums held in registers: blocks of R rows times one panel of weights.

#pragma once

#include "stage.h"

namespace wavetell {
namespace {

// A cell is one weight, or a pair of bfloat16 that belong to two cells of the panel and are widened here.
template <bool PAIRED, class Cells>
inline __attribute__((always_inline)) Cells weights_in(Cells cells, int which) {
    typedef uint32_t Bits __attribute__((vector_size(sizeof(Cells))));
    if (!PAIRED) return cells;
    return which ? (Cells)((Bits)cells & 0xffff0000u) : (Cells)((Bits)cells << 16);
}

// Vectors provides Wide and Half vectors of sums, their weights, spread(cell) to all lanes and add(sum, weights, spread).
template <class Vectors, int WIDTH, int R, bool PAIRED>
inline __attribute__((always_inline)) void multiply_rows(const float* start, long start_stride, float* tile,
                                                         const uint32_t* panel, long stride, const uint32_t* weights,
                                                         long depth) {
    using Wide = typename Vectors::Wide;
    using Half = typename Vectors::Half;
    constexpr int N = WIDTH / Vectors::LANES, WHOLE = N * Vectors::LANES;
    constexpr bool HALF = WHOLE < WIDTH;
    constexpr int PER_CELL = PAIRED ? 2 : 1;
    Wide sum[R][N];
    Half rest[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int n = 0; n < N; ++n) sum[r][n] = load<Wide>(start + r * start_stride + n * Vectors::LANES);
        if (HALF) rest[r] = load<Half>(start + r * start_stride + WHOLE);
    }
    const uint32_t* halves = weights + depth / PER_CELL * WHOLE;
    const uint32_t* rows[(R + 2) / 3];  // every third row: the two between are one and two strides away
#pragma GCC unroll 16
    for (int i = 0; i < (R + 2) / 3; ++i) rows[i] = panel + 3 * i * stride;
    for (long k = 0; k < depth; k += PER_CELL) {
        typename Vectors::WideWeights w[N];
        typename Vectors::HalfWeights h;
#pragma GCC unroll 16
        for (int n = 0; n < N; ++n) w[n] = load<typename Vectors::WideWeights>(weights + n * Vectors::LANES);
        if (HALF) h = load<typename Vectors::HalfWeights>(halves);
#pragma GCC unroll 2
        for (int which = 0; which < PER_CELL; ++which) {
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r) {
                const auto cell = Vectors::spread(rows[r / 3] + r % 3 * stride);
#pragma GCC unroll 16
                for (int n = 0; n < N; ++n) sum[r][n] = Vectors::add(sum[r][n], weights_in<PAIRED>(w[n], which), cell);
                if (HALF) rest[r] = Vectors::add(rest[r], weights_in<PAIRED>(h, which), cell);
            }
#pragma GCC unroll 16
            for (int i = 0; i < (R + 2) / 3; ++i) ++rows[i];
        }
        weights += WHOLE;
        halves += WIDTH - WHOLE;
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
        for (int n = 0; n < N; ++n) store(tile + r * WIDTH + n * Vectors::LANES, sum[r][n]);
        if (HALF) store(tile + r * WIDTH + WHOLE, rest[r]);
    }
}

// One row, and paired weights.
template <class Vectors, int WIDTH>
void multiply_one(int, const float* start, long, float* tile, const uint32_t* panel, long, const uint32_t* weights,
                  long depth) {
    multiply_rows<Vectors, WIDTH, 1, true>(start, 0, tile, panel, 0, weights, depth);
}

// One function for every number of rows up to R.
template <class Vectors, int WIDTH, int R>
void multiply_up_to(int rows, const float* start, long start_stride, float* tile, const uint32_t* panel, long stride,
                    const uint32_t* weights, long depth) {
    if (rows == R)
        multiply_rows<Vectors, WIDTH, R, false>(start, start_stride, tile, panel, stride, weights, depth);
    else if constexpr (R > 1)
        multiply_up_to<Vectors, WIDTH, R - 1>(rows, start, start_stride, tile, panel, stride, weights, depth);
}

// For 32 registers of 16 lanes: as many columns as there are whole panels of, for each cell of a row is then read once.
inline int wide_width(int out) { return out % 40 == 0 ? 40 : out % 48 == 0 ? 48 : out % 32 == 0 ? 32 : 16; }
inline int wide_block(int width) { return width == 16 ? 14 : width == 32 ? 12 : 8; }
template <class Vectors>
Multiply wide_multiply(int width) {
    if (width == 40) return multiply_up_to<Vectors, 40, 8>;
    if (width == 48) return multiply_up_to<Vectors, 48, 8>;
    return width == 32 ? multiply_up_to<Vectors, 32, 12> : multiply_up_to<Vectors, 16, 14>;
}

}  // namespace
}  // namespace wavetell
