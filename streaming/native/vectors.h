// Eight floats at once, in the compiler's own vectors: every instruction set compiles its own copy.

#pragma once

#include <cstdint>
#include <cstring>

namespace wavetell {
namespace {

typedef float Float8 __attribute__((vector_size(32)));
typedef float Float4 __attribute__((vector_size(16)));
typedef int32_t Whole8 __attribute__((vector_size(32)));

template <class T>
inline T load(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
inline void store(void* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

template <class V>
inline V spread(float value) {
    return V{} + value;
}

inline float sum(Float8 x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }
inline Float8 least(Float8 a, Float8 b) { return a < b ? a : b; }
inline Float8 most(Float8 a, Float8 b) { return a > b ? a : b; }
inline Float8 positive(Float8 a) { return (Float8)((Whole8)a & 0x7fffffff); }

#if defined(__clang__) || __GNUC__ >= 12
#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIX(a, b, ...) __builtin_shuffle(a, b, Whole8{__VA_ARGS__})
#endif

// rows[i][j] becomes rows[j][i].
inline void transpose(Float8 (&rows)[8]) {
    Float8 a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = MIX(rows[i], rows[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[i + 1] = MIX(rows[i], rows[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; ++k) {
            b[i + 2 * k] = MIX(a[i + k], a[i + 2 + k], 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + 2 * k + 1] = MIX(a[i + k], a[i + 2 + k], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; ++i) {
        rows[i] = MIX(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        rows[i + 4] = MIX(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

// The transpose of a matrix whose rows and columns are multiples of eight; rows may begin further apart than they are
// long: at distances of a power of two they would fight for a cache's lines.
inline void transpose(const float* from, long rows, long columns, long from_stride, float* to, long to_stride) {
    for (long r = 0; r < rows; r += 8)
        for (long c = 0; c < columns; c += 8) {
            Float8 block[8];
            for (int i = 0; i < 8; ++i) block[i] = load<Float8>(from + (r + i) * from_stride + c);
            transpose(block);
            for (int i = 0; i < 8; ++i) store(to + (c + i) * to_stride + r, block[i]);
        }
}

inline Float8 root(Float8 x) {
    Float8 found;
    for (int i = 0; i < 8; ++i) found[i] = __builtin_sqrtf(x[i]);
    return found;
}

// Eight complex numbers from a stream of real and imaginary parts in turn.
inline void part(const float* pairs, Float8& re, Float8& im) {
    const Float8 a = load<Float8>(pairs), b = load<Float8>(pairs + 8);
    re = MIX(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
    im = MIX(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
}

// The angle of x + j y, to some 1e-7 (after Moshier's Cephes).
inline Float8 angle(Float8 y, Float8 x) {
    const Float8 ax = positive(x), ay = positive(y);
    const Float8 large = most(ax, ay), small = least(ax, ay);
    const Float8 ratio = small / most(large, spread<Float8>(1e-37f));
    const Whole8 far = ratio > 0.414213562f;
    const Float8 z = far ? (ratio - 1.0f) / (ratio + 1.0f) : ratio;
    const Float8 square = z * z;
    Float8 p = square * 8.05374449538e-2f - 1.38776856032e-1f;
    p = p * square + 1.99777106478e-1f;
    p = p * square - 3.33329491539e-1f;
    Float8 found = p * square * z + z + (far ? spread<Float8>(0.785398163f) : Float8{});
    found = ay > ax ? 1.57079633f - found : found;
    found = x < 0.0f ? 3.14159265f - found : found;
    return (Whole8)y < 0 ? -found : found;  // with the sign of a zero, as atan2 has it
}

}  // namespace
}  // namespace wavetell
