// Multiplication in tiles of 16 rows by 16 columns, 32 bfloat16 products deep, as AMX has them.
//
// Tiles provides load, store and multiply on eight numbered tiles: the processor's own, or software that stands in
// for them. Sums take tiles 0 to 3, rows 4 and 5, weights 6 and 7, or 5 to 7 where there is one row of tiles.

#pragma once

#include "stage.h"

namespace wavetell {
namespace {

constexpr int SIDE = 16;

// 16 rows by 48 columns: three sums, one tile of rows.
template <class Tiles>
void multiply_1x3(const float* start, long start_stride, float* tile, const uint32_t* panel, long stride,
                  const uint32_t* weights, long depth) {
    constexpr long WIDTH = 3 * SIDE, BYTES = 4 * WIDTH;
    Tiles::template load<0>(start, 4 * start_stride);
    Tiles::template load<1>(start + SIDE, 4 * start_stride);
    Tiles::template load<2>(start + 2 * SIDE, 4 * start_stride);
    for (long k = 0; k < depth; k += SIDE, weights += SIDE * WIDTH) {
        Tiles::template load<4>(panel + k, 4 * stride);
        Tiles::template load<5>(weights, BYTES);
        Tiles::template multiply<0, 4, 5>();
        Tiles::template load<6>(weights + SIDE, BYTES);
        Tiles::template multiply<1, 4, 6>();
        Tiles::template load<7>(weights + 2 * SIDE, BYTES);
        Tiles::template multiply<2, 4, 7>();
    }
    Tiles::template store<0>(tile, BYTES);
    Tiles::template store<1>(tile + SIDE, BYTES);
    Tiles::template store<2>(tile + 2 * SIDE, BYTES);
}

// 16 or 32 rows by 32 columns: two or four sums.
template <class Tiles, bool TWO>
void multiply_2x2(const float* start, long start_stride, float* tile, const uint32_t* panel, long stride,
                  const uint32_t* weights, long depth) {
    constexpr long WIDTH = 2 * SIDE, BYTES = 4 * WIDTH;
    const float* lower = start + SIDE * start_stride;
    Tiles::template load<0>(start, 4 * start_stride);
    Tiles::template load<1>(start + SIDE, 4 * start_stride);
    if (TWO) Tiles::template load<2>(lower, 4 * start_stride);
    if (TWO) Tiles::template load<3>(lower + SIDE, 4 * start_stride);
    for (long k = 0; k < depth; k += SIDE, weights += SIDE * WIDTH) {
        Tiles::template load<4>(panel + k, 4 * stride);
        Tiles::template load<6>(weights, BYTES);
        Tiles::template multiply<0, 4, 6>();
        Tiles::template load<7>(weights + SIDE, BYTES);
        Tiles::template multiply<1, 4, 7>();
        if (TWO) Tiles::template load<5>(panel + SIDE * stride + k, 4 * stride);
        if (TWO) Tiles::template multiply<2, 5, 6>();
        if (TWO) Tiles::template multiply<3, 5, 7>();
    }
    Tiles::template store<0>(tile, BYTES);
    Tiles::template store<1>(tile + SIDE, BYTES);
    if (TWO) Tiles::template store<2>(tile + SIDE * WIDTH, BYTES);
    if (TWO) Tiles::template store<3>(tile + SIDE * WIDTH + SIDE, BYTES);
}

int tile_width(int out) { return out <= 3 * SIDE && out > 2 * SIDE ? 3 * SIDE : 2 * SIDE; }
int tile_block(int width) { return width == 3 * SIDE ? SIDE : 2 * SIDE; }

// Rows beyond `rows` are computed from what the panel last held, and nobody reads them.
template <class Tiles>
Multiply tile_multiply(int width) {
    if (width == 3 * SIDE)
        return [](int, const float* start, long start_stride, float* tile, const uint32_t* panel, long stride,
                  const uint32_t* weights, long depth) {
            multiply_1x3<Tiles>(start, start_stride, tile, panel, stride, weights, depth);
        };
    return [](int rows, const float* start, long start_stride, float* tile, const uint32_t* panel, long stride,
              const uint32_t* weights, long depth) {
        const auto run = rows > SIDE ? multiply_2x2<Tiles, true> : multiply_2x2<Tiles, false>;
        run(start, start_stride, tile, panel, stride, weights, depth);
    };
}

}  // namespace
}  // namespace wavetell
