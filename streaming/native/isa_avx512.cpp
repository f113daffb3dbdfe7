// AVX-512: 40 columns are two whole vectors and a half one.

#include "model.h"
#include "target.h"

#if defined(__x86_64__)
#include <immintrin.h>

BEGIN_TARGET("avx512f,avx512vl,avx512bw,avx512dq,fma")

#include "registers.h"

namespace wavetell {
namespace {

struct Vectors {
    using Wide = __m512;
    using Half = __m256;
    using WideWeights = Wide;
    using HalfWeights = Half;
    static constexpr int LANES = 16;

    static Wide spread(const uint32_t* cell) { return _mm512_set1_ps(load<float>(cell)); }
    static Wide add(Wide sum, Wide weights, Wide cell) { return sum + weights * cell; }
    static Half add(Half sum, Half weights, Wide cell) { return sum + weights * _mm512_castps512_ps256(cell); }
};

int width_of_one(int out) { return out % 160 == 0 ? 160 : wide_width(out); }
Multiply one(int width) {
    if (width == 160) return multiply_one<Vectors, 160>;
    if (width == 48) return multiply_one<Vectors, 48>;
    if (width == 32) return multiply_one<Vectors, 32>;
    return width == 40 ? multiply_one<Vectors, 40> : multiply_one<Vectors, 16>;
}

const Isa isa = {"avx512", 4, 1, Vectors::LANES, wide_block, {wide_width, wide_multiply<Vectors>}, {width_of_one, one}, run_stage<Float32>};

}  // namespace

const Isa* const avx512 = &isa;

}  // namespace wavetell

END_TARGET
#else
const wavetell::Isa* const wavetell::avx512 = nullptr;
#endif
