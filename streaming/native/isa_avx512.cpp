// AVX-512: 40 columns are two whole vectors and a half one.

#include "model.h"

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,fma")
#endif

#include "registers.h"

namespace wavetell {
namespace {

struct Vectors {
    typedef float Wide __attribute__((vector_size(64)));
    using Half = Float8;
    using WideWeights = Wide;
    using HalfWeights = Half;
    static constexpr int LANES = 16;

    template <class T>
    static T add(T sum, T weights, uint32_t cell) {
        return sum + weights * load<float>(&cell);
    }
};

int width(int out) { return out % 40 == 0 ? 40 : 16; }
int block(int width) { return width == 40 ? 8 : 14; }
Multiply multiply(int width) { return width == 40 ? multiply_up_to<Vectors, 40, 8> : multiply_up_to<Vectors, 16, 14>; }
void run(const Model& model, Batch& batch, Desk& desk, int first, int last) {
    Stage<Float32>(model, batch, desk).run(first, last);
}

const Isa isa = {"avx512", 4, 1, Vectors::LANES, width, block, multiply, run};

}  // namespace

const Isa* const avx512 = &isa;

}  // namespace wavetell

#if defined(__clang__)
#pragma clang attribute pop
#endif
#else
const wavetell::Isa* const wavetell::avx512 = nullptr;
#endif
