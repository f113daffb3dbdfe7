// AMX: tiles of bfloat16 on the processor.

#include "model.h"
#include "target.h"

#if defined(__x86_64__)
BEGIN_TARGET("avx512f,avx512vl,avx512bw,avx512dq,fma")

#include "tiles.h"

namespace wavetell {
namespace {

// Operands are written out because the compiler's own tile functions take no template parameters.
struct Hardware {
    static void open() {
        // Palette 1; every tile 16 rows of 64 bytes. Hard-coded: virtual machines may hide the CPUID leaves that tell.
        alignas(64) uint8_t config[64] = {1};
        for (int tile = 0; tile < 8; ++tile) config[16 + 2 * tile] = 64, config[48 + tile] = 16;
        asm volatile("ldtilecfg %0" ::"m"(config));
    }
    static void close() { asm volatile("tilerelease"); }

    template <int T>
    static void load(const void* from, long stride) {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(T) : "memory");
    }
    template <int T>
    static void store(void* to, long stride) {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(T) : "memory");
    }
    template <int C, int A, int B>
    static void multiply() {  // C += A B
        asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
    }
};

void run(const Model& model, Batch& batch, Desk& desk, int first, int last) {
    Hardware::open();
    run_stage<BFloat16>(model, batch, desk, first, last);
    Hardware::close();
}

const Isa isa = {"amx", 2, 16, 16, tile_block, {tile_width, tile_multiply<Hardware>}, {}, run};

}  // namespace

const Isa* const amx = &isa;

}  // namespace wavetell

END_TARGET
#else
const wavetell::Isa* const wavetell::amx = nullptr;
#endif
