// The activations on groups of eight channels, in plain arithmetic so that every instruction set gives the same bits.

#pragma once

#include "model.h"
#include "vectors.h"

namespace wavetell {
namespace {  // each instruction set compiles its own copy

// exp(x) for x <= 0: 2^n times a polynomial in the remainder, |r| <= ln(2) / 2; below -87 it stays at exp(-87).
inline Float8 exponential(Float8 x) {
    x = x < -87.0f ? Float8{} - 87.0f : x;
    const Float8 shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23 leaves round(x / ln 2) in the low bits
    const Float8 n = shifted - 12582912.0f;
    Float8 r = n * -0.693359375f + x;  // ln 2 in two parts, the first one exact
    r = n * 2.12194440e-4f + r;
    Float8 p = Float8{} + 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    const Whole8 power = ((Whole8)shifted - 0x4b400000 + 127) << 23;
    return p * (Float8)power;
}

// log(1 + u) for -0.5 <= u <= 1: twice the area tangent of s = u / (2 + u), |s| <= 1/3.
inline Float8 log1p(Float8 u) {
    const Float8 s = u / (u + 2.0f), square = s * s;
    Float8 p = Float8{} + 1.0f / 15;
    p = p * square + 1.0f / 13;
    p = p * square + 1.0f / 11;
    p = p * square + 1.0f / 9;
    p = p * square + 1.0f / 7;
    p = p * square + 1.0f / 5;
    p = p * square + 1.0f / 3;
    p = p * square + 1.0f;
    return (s + s) * p;
}

template <Activation kind>
inline Float8 activate(Float8 x) {
    const Float8 positive = x > 0.0f ? x : Float8{};
    if (kind == Activation::relu) return positive;
    if (kind == Activation::leaky_relu) return x > 0.0f ? x : x * 0.01f;
    return positive + log1p(exponential(x > 0.0f ? -x : x));
}

}  // namespace
}  // namespace wavetell
