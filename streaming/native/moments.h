// Moments of hops of samples, and where they change, as streaming/band/evidence.py and streaming/changes.py define them.
// Every instruction set compiles its own copy.

#pragma once

#include <cmath>

#include "signals.h"
#include "vectors.h"

namespace wavetell {
namespace {

struct Complex8 {
    Float8 re, im;

    Complex8& operator+=(Complex8 other) { return re += other.re, im += other.im, *this; }
};

inline Complex8 operator*(Complex8 a, Complex8 b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline double size_of(Complex8 a) { return std::hypot(double(sum(a.re)), double(sum(a.im))); }

// Five moments of each of n hops of `length` complex samples, a multiple of eight, at unit power.
void moments(const float* iq, long n, long length, double* out) {
    for (long hop = 0; hop < n; ++hop, iq += 2 * length, out += 5) {
        Float8 power{};
        for (long i = 0; i < 2 * length; i += 8) power += load<Float8>(iq + i) * load<Float8>(iq + i);
        const float level = sum(power) / float(length) + 1e-20f;
        const Float8 scale = spread<Float8>(1.0f / std::sqrt(level));
        Float8 fourth{};
        Complex8 square{}, square_2{}, step{}, step_2{};
        for (long i = 0; i < length; i += 8) {
            Complex8 x, next{};
            part(iq + 2 * i, x.re, x.im);
            if (i + 8 < length) {
                part(iq + 2 * i + 2, next.re, next.im);
            } else {
                for (int j = 0; j < 7; ++j) next.re[j] = x.re[j + 1], next.im[j] = x.im[j + 1];
            }
            x.re *= scale, x.im *= scale, next.re *= scale, next.im *= scale;
            const Float8 size = x.re * x.re + x.im * x.im;
            const Complex8 two = x * x, turned = next * Complex8{x.re, -x.im};
            fourth += size * size;
            square += two, square_2 += two * two;
            step += turned, step_2 += turned * turned;
        }
        const double samples = double(length), steps = double(length - 1);
        out[0] = double(sum(fourth)) / samples;
        out[1] = size_of(square) / samples, out[2] = size_of(square_2) / samples;
        out[3] = size_of(step) / steps, out[4] = size_of(step_2) / steps;
    }
}

// For every stretch of `earlier` and then `recent` rows of rows[n][columns]: how far the means of its parts are apart,
// in deviations of the earlier one.
void apart(const double* rows, long n, long columns, long earlier, long recent, double* out) {
    const double share = 1.0 / double(recent) + 1.0 / double(earlier);
    for (long at = 0; at + earlier + recent <= n; ++at) {
        double all = 0.0;
        for (long c = 0; c < columns; ++c) {
            const double* const x = rows + at * columns + c;
            double before = 0.0, after = 0.0, squares = 0.0;
            for (long i = 0; i < earlier; ++i) before += x[i * columns];
            for (long i = earlier; i < earlier + recent; ++i) after += x[i * columns];
            before /= double(earlier), after /= double(recent);
            for (long i = 0; i < earlier; ++i) squares += (x[i * columns] - before) * (x[i * columns] - before);
            all += (after - before) * (after - before) / (squares / double(earlier - 1) * share + 1e-12);
        }
        out[at] = all / double(columns);
    }
}

}  // namespace
}  // namespace wavetell
