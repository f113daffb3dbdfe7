// Every processor that a C++ compiler knows: eight rows by eight columns suit the 32 registers of arm64.

#include "registers.h"

namespace wavetell {
namespace {

struct Vectors {
    typedef float Wide __attribute__((vector_size(16)));
    using Half = Wide;
    using WideWeights = Wide;
    using HalfWeights = Wide;
    static constexpr int LANES = 4;

    static float spread(const uint32_t* cell) { return load<float>(cell); }
    static Wide add(Wide sum, Wide weights, float cell) { return sum + weights * cell; }
};

int width(int) { return 8; }
int block(int) { return 8; }
Multiply multiply(int) { return multiply_up_to<Vectors, 8, 8>; }
int width_of_one(int out) { return out % 40 == 0 ? 40 : 8; }
Multiply one(int width) { return width == 40 ? multiply_one<Vectors, 40> : multiply_one<Vectors, 8>; }
const Isa isa = {"portable", 4, 1, Vectors::LANES, block, {width, multiply}, {width_of_one, one}, run_stage<Float32>};
#if defined(__aarch64__)
// Every arm64 has NEON, and the compiler makes it of the vectors above.
const Isa same = {"neon", 4, 1, Vectors::LANES, block, {width, multiply}, {width_of_one, one}, run_stage<Float32>};
#endif

}  // namespace

const Isa* const portable = &isa;
#if defined(__aarch64__)
const Isa* const neon = &same;
#else
const Isa* const neon = nullptr;
#endif

}  // namespace wavetell
