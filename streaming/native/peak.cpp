// What this core can do at most: chains of float32 multiply-adds that live in registers, and multiply-adds of
// values that are read once each, as a push of one sample does with the weights.
//
//     done = wavetell_fma_chains(lanes, steps)      // multiply-adds done; 0 where the processor has no such vectors
//     done = wavetell_read_chains(lanes, values, count, passes)  // values used; count must be a multiple of 192
//
// `wavetell bench engine` times it beside the kernel. Built with the other sources of this folder.

#include <cstdint>

namespace {

constexpr int CHAINS = 12;  // latency 4 times 2 units is 8; 12 still fit AVX2's 16 registers

typedef float F4 __attribute__((vector_size(16)));
typedef float F8 __attribute__((vector_size(32)));
typedef float F16 __attribute__((vector_size(64)));

volatile float scale_ = 0.9f, offset_ = 0.1f, sink_;  // volatile: the compiler must not work the chains out itself

// acc = acc * scale + offset settles at offset / (1 - scale): it neither overflows nor becomes denormal.
template <typename V>
inline __attribute__((always_inline)) int64_t chains(int64_t steps) {
    V acc[CHAINS], scale = V{} + scale_, offset = V{} + offset_;
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; i++) acc[i] = offset * static_cast<float>(i + 1);
    for (int64_t n = 0; n < steps; n++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) acc[i] = acc[i] * scale + offset;
    }
    V sum = acc[0];
#pragma GCC unroll 12
    for (int i = 1; i < CHAINS; i++) sum += acc[i];
    sink_ = sum[0];
    return steps * CHAINS * static_cast<int64_t>(sizeof(V) / sizeof(float));
}

template <typename V>
inline __attribute__((always_inline)) int64_t reads(const float* values, int64_t count, int64_t passes) {
    constexpr int LANES = sizeof(V) / sizeof(float);
    V acc[CHAINS] = {}, scale = V{} + scale_;
    for (int64_t pass = 0; pass < passes; pass++) {
        for (int64_t n = 0; n < count; n += CHAINS * LANES) {
#pragma GCC unroll 12
            for (int i = 0; i < CHAINS; i++) {
                V value;
                __builtin_memcpy(&value, values + n + i * LANES, sizeof(V));
                acc[i] = value * scale + acc[i];
            }
        }
    }
    V sum = acc[0];
#pragma GCC unroll 12
    for (int i = 1; i < CHAINS; i++) sum += acc[i];
    sink_ = sum[0];
    return passes * count;
}

#if defined(__x86_64__)
#define AVX512 __attribute__((target("avx512f,fma")))
#define AVX2 __attribute__((target("avx2,fma")))
AVX512 int64_t chains_avx512(int64_t steps) { return chains<F16>(steps); }
AVX2 int64_t chains_avx2(int64_t steps) { return chains<F8>(steps); }
AVX512 int64_t reads_avx512(const float* values, int64_t count, int64_t passes) { return reads<F16>(values, count, passes); }
AVX2 int64_t reads_avx2(const float* values, int64_t count, int64_t passes) { return reads<F8>(values, count, passes); }

bool has_avx512() { return __builtin_cpu_supports("avx512f"); }
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

}  // namespace

extern "C" int64_t wavetell_fma_chains(int32_t lanes, int64_t steps) {
#if defined(__x86_64__)
    if (lanes == 16) return has_avx512() ? chains_avx512(steps) : 0;
    if (lanes == 8) return has_avx2() ? chains_avx2(steps) : 0;
#endif
    return lanes == 4 ? chains<F4>(steps) : 0;
}

extern "C" int64_t wavetell_read_chains(int32_t lanes, const float* values, int64_t count, int64_t passes) {
#if defined(__x86_64__)
    if (lanes == 16) return has_avx512() ? reads_avx512(values, count, passes) : 0;
    if (lanes == 8) return has_avx2() ? reads_avx2(values, count, passes) : 0;
#endif
    return lanes == 4 ? reads<F4>(values, count, passes) : 0;
}
