// AMX's tiles in plain C++, on every processor: what tests the packing and blocking of tiles where there is no AMX.

#include <cstring>

#include "tiles.h"

namespace wavetell {
namespace {

thread_local uint32_t tiles[8][16][16];

float number(uint32_t cell, int half) {  // the lower or upper bfloat16 of a cell
    return wavetell::load<float>(&(cell = half ? cell & 0xffff0000u : cell << 16));
}

struct Software {
    template <int T>
    static void load(const void* from, long stride) {
        for (int row = 0; row < 16; ++row)
            std::memcpy(tiles[T][row], static_cast<const uint8_t*>(from) + row * stride, 64);
    }
    template <int T>
    static void store(void* to, long stride) {
        for (int row = 0; row < 16; ++row) std::memcpy(static_cast<uint8_t*>(to) + row * stride, tiles[T][row], 64);
    }
    // As Intel's manual has it: even and odd products are summed apart, then both are added to C.
    template <int C, int A, int B>
    static void multiply() {
        for (int m = 0; m < 16; ++m)
            for (int n = 0; n < 16; ++n) {
                float even = 0, odd = 0;
                for (int k = 0; k < 16; ++k) {
                    even += number(tiles[A][m][k], 0) * number(tiles[B][k][n], 0);
                    odd += number(tiles[A][m][k], 1) * number(tiles[B][k][n], 1);
                }
                wavetell::store(&tiles[C][m][n], wavetell::load<float>(&tiles[C][m][n]) + (even + odd));
            }
    }
};

const Isa isa = {"amx-emulated", 2, 16, 16, tile_block, {tile_width, tile_multiply<Software>}, {}, run_stage<BFloat16>};

}  // namespace

const Isa* const amx_emulated = &isa;

}  // namespace wavetell
