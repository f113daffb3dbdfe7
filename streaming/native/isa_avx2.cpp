// AVX2 with FMA: 16 registers hold two rows of 40 columns, or six of 16.

#include "model.h"
#include "target.h"

#if defined(__x86_64__)
BEGIN_TARGET("avx2,fma")

#include "registers.h"

namespace wavetell {
namespace {

struct Vectors {
    using Wide = Float8;
    using Half = Float8;
    using WideWeights = Wide;
    using HalfWeights = Half;
    static constexpr int LANES = 8;

    static Float8 spread(const uint32_t* cell) { return Float8{} + load<float>(cell); }
    static Float8 add(Float8 sum, Float8 weights, Float8 cell) { return sum + weights * cell; }
};

int width(int out) { return out % 40 == 0 ? 40 : 16; }
int block(int width) { return width == 40 ? 2 : 6; }
Multiply multiply(int width) { return width == 40 ? multiply_up_to<Vectors, 40, 2> : multiply_up_to<Vectors, 16, 6>; }

int width_of_one(int out) { return out % 80 == 0 ? 80 : width(out); }
Multiply one(int width) {
    if (width == 80) return multiply_one<Vectors, 80>;
    return width == 40 ? multiply_one<Vectors, 40> : multiply_one<Vectors, 16>;
}

const Isa isa = {"avx2", 4, 1, Vectors::LANES, block, {width, multiply}, {width_of_one, one}, run_stage<Float32>};

}  // namespace

const Isa* const avx2 = &isa;

}  // namespace wavetell

END_TARGET
#else
const wavetell::Isa* const wavetell::avx2 = nullptr;
#endif
