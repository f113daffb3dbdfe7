// AVX512-BF16: every lane takes two products at a time, sums stay float32.

#include "model.h"
#include "target.h"

#if defined(__x86_64__)
#include <immintrin.h>

BEGIN_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,fma")

#include "registers.h"

namespace wavetell {
namespace {

struct Vectors {
    static constexpr int LANES = 16;
    using Wide = __m512;
    using Half = __m256;
    using WideWeights = __m512i;
    using HalfWeights = __m256i;

    static WideWeights spread(const uint32_t* pair) { return _mm512_set1_epi32(load<int>(pair)); }
    static Wide add(Wide sum, WideWeights weights, WideWeights pair) {
        return _mm512_dpbf16_ps(sum, (__m512bh)weights, (__m512bh)pair);
    }
    static Half add(Half sum, HalfWeights weights, WideWeights pair) {
        return _mm256_dpbf16_ps(sum, (__m256bh)weights, (__m256bh)_mm512_castsi512_si256(pair));
    }
};

struct Rounded : BFloat16 {
    static Group from(Float8 x) { return (Group)_mm256_cvtneps_pbh((__m256)x); }
};

const Isa isa = {"avx512bf16", 2, 1, Vectors::LANES, wide_block, {wide_width, wide_multiply<Vectors>}, {}, run_stage<Rounded>};

}  // namespace

const Isa* const avx512bf16 = &isa;

}  // namespace wavetell

END_TARGET
#else
const wavetell::Isa* const wavetell::avx512bf16 = nullptr;
#endif
