// Level and spectrum of an emission, as streaming/features defines them: the level of the loud parts, the shape of the
// spectrum, the autocorrelation at long lags. Every instruction set compiles its own copy.

#pragma once

#include "fft.h"
#include "signals.h"

namespace wavetell {
namespace {

constexpr int SHAPE_PARTS = 64, RANGES = 5, LONG_COUNT = 6 * RANGES + 2;
constexpr long FRAME = 256, FRAMES = 512;
constexpr long LAST_LAG = 4096, LAG_SIZE = 2 * LAST_LAG;
const long RANGE[RANGES][2] = {{24, 64}, {64, 160}, {160, 400}, {400, 1024}, {1024, 4096}};

inline float mean(const float* values, long n) {
    Float8 some{};
    double all = 0;
    long i = 0;
    for (; i + 8 <= n; i += 8) {
        some += load<Float8>(values + i);
        if (i % 1024 == 1016) all += sum(some), some = Float8{};
    }
    all += sum(some);
    for (; i < n; ++i) all += values[i];
    return float(all / double(n));
}

inline float mean_square(const float* re, const float* im, long n) {
    Float8 some{};
    double all = 0;
    long i = 0;
    for (; i + 8 <= n; i += 8) {
        const Float8 a = load<Float8>(re + i), b = load<Float8>(im + i);
        some += a * a + b * b;
        if (i % 1024 == 1016) all += sum(some), some = Float8{};
    }
    all += sum(some);
    for (; i < n; ++i) all += re[i] * re[i] + im[i] * im[i];
    return float(all / double(n));
}

inline void centre(float* values, long n) {
    const float by = mean(values, n);
    for (long i = 0; i < n; ++i) values[i] -= by;
}

// Into x: at unit power where it is loud, clicks cut. The last vectors reach beyond the end, where there are zeros.
inline void level(Workspace& work, const float* iq, long n) {
    float *re = work.x_re, *im = work.x_im, *power = work.a + 8, *smoothed = work.b;
    const long whole = n / 8 * 8;
    for (long i = 0; i < whole; i += 8) {
        Float8 a, b;
        part(iq + 2 * i, a, b);
        store(re + i, a), store(im + i, b), store(power + i, a * a + b * b);
    }
    for (long i = whole; i < n + 8; ++i) {
        re[i] = i < n ? iq[2 * i] : 0.0f, im[i] = i < n ? iq[2 * i + 1] : 0.0f;
        power[i] = re[i] * re[i] + im[i] * im[i];
    }
    store(power - 8, Float8{});
    const long step = n < 32768 ? 1 : 4, count = (n + step - 1) / step;
    for (long i = 0; i < count; ++i) {
        const Float4 eight = load<Float4>(power + i * step - 4) + load<Float4>(power + i * step);
        smoothed[i] = ((eight[0] + eight[1]) + (eight[2] + eight[3])) * 0.125f;
    }
    const Float8 scale = spread<Float8>(1.0f / __builtin_sqrtf(work.order.quantile(smoothed, count, 0.9) + 1e-20f));
    for (long i = 0; i < n; i += 8) {
        const Float8 cut = 8.0f / (root(load<Float8>(power + i)) * scale + 1e-9f);
        const Float8 by = scale * least(cut, spread<Float8>(1.0f));
        store(re + i, load<Float8>(re + i) * by), store(im + i, load<Float8>(im + i) * by);
    }
}

// The logarithm of the density in 64 parts, relative to its peak.
inline void describe_shape(Workspace& work, long n, float* found) {
    const long length = n < FRAME ? FRAME : n;
    for (long i = n; i < length; ++i) work.x_re[i] = work.x_im[i] = 0.0f;
    long count = (length - FRAME) / (FRAME / 2) + 1;
    count = count < FRAMES ? count : FRAMES;
    long step = (length - FRAME) / count;
    step = step < FRAME / 2 ? FRAME / 2 : step;
    const Plan& plan = plan_of(FRAME);
    float *hann = work.e, *total = work.e + FRAME, density[SHAPE_PARTS], peak = 0;
    for (long i = 0; i < FRAME; ++i) {
        hann[i] = float(0.5 - 0.5 * __builtin_cos(6.283185307179586 * double(i) / double(FRAME - 1)));
        total[i] = 0.0f;
    }
    for (long frame = 0; frame < count && frame * step + FRAME <= length; ++frame) {
        Split x{work.a, work.b}, y{work.c, work.d};
        const float *re = work.x_re + frame * step, *im = work.x_im + frame * step;
        for (long i = 0; i < FRAME; ++i) x.re[i] = re[i] * hann[i], x.im[i] = im[i] * hann[i];
        transform(plan, 1, x, y);
        for (long i = 0; i < FRAME; ++i) total[i] += x.re[i] * x.re[i] + x.im[i] * x.im[i];
    }
    for (int part = 0; part < SHAPE_PARTS; ++part) {
        const float* at = total + (part + SHAPE_PARTS / 2) % SHAPE_PARTS * (FRAME / SHAPE_PARTS);
        density[part] = (at[0] + at[1] + at[2] + at[3]) / 4 / float(count);
        peak = density[part] > peak ? density[part] : peak;
    }
    for (int part = 0; part < SHAPE_PARTS; ++part)
        found[part] = __builtin_log10f(density[part] / (peak + 1e-30f) + 1e-4f);
}

// The mean of `width` values around each, in a circle of n, a power of two; several parts of it at the same time.
inline void smooth_circle(const float* values, long n, long width, float* smoothed) {
    constexpr int PARTS = 8;
    const long before = width / 2, after = width - before - 1, part = n / PARTS, mask = n - 1;
    double sums[PARTS];
    for (int k = 0; k < PARTS; ++k) {
        sums[k] = 0;
        for (long i = -before; i <= after; ++i) sums[k] += values[(k * part + i) & mask];
    }
    const double by = 1.0 / double(width);
    for (long i = 0; i < part; ++i)
        for (int k = 0; k < PARTS; ++k) {
            const long at = k * part + i;
            smoothed[at] = float(sums[k] * by);
            sums[k] += double(values[(at + after + 1) & mask]) - double(values[(at - before) & mask]);
        }
}

// The transform of two real spectra x.re and x.im at lags -LAST_LAG .. LAST_LAG - 1; it is in x then, y is overwritten.
inline void transform_lags(long n, Split& x, Split& y) {
    const long columns = n / LAG_SIZE;
    if (columns < 8) return transform(plan_of(n), 1, x, y);
    constexpr long STRIDE = LAG_SIZE + STRIP;
    transpose(x.re, LAG_SIZE, columns, columns, y.re, STRIDE);
    transpose(x.im, LAG_SIZE, columns, columns, y.im, STRIDE);
    const Plan& plan = plan_of(LAG_SIZE);
    const Lags& lags = lags_of(n, LAG_SIZE);
    float *sum_re = x.re + 2 * LAG_SIZE, *sum_im = x.im + 2 * LAG_SIZE;
    for (long i = 0; i < LAG_SIZE; ++i) sum_re[i] = sum_im[i] = 0.0f;
    for (long column = columns - 1; column >= 0; --column) {  // Horner's rule
        Split one{y.re + column * STRIDE, y.im + column * STRIDE}, other = x;
        transform(plan, 1, one, other);
        for (long i = 0; i < LAG_SIZE; i += 8) {
            Float8 re = load<Float8>(sum_re + i), im = load<Float8>(sum_im + i);
            turn(re, im, load<Float8>(lags.re + i), load<Float8>(lags.im + i));
            store(sum_re + i, re + load<Float8>(one.re + i));
            store(sum_im + i, im + load<Float8>(one.im + i));
        }
    }
    x = {sum_re, sum_im};
}

// The highest of the values between two lags, over r0; over the median; and where it is.
inline void describe_range(Workspace& work, const float* r, long low, long high, float* found) {
    const float by = 1.0f / (r[0] + 1e-9f);
    float* inside = work.e;
    long best = 0;
    for (long i = 0; i < high - low; ++i) {
        inside[i] = r[low + i] * by;
        if (inside[i] > inside[best]) best = i;
    }
    const float peak = inside[best];
    found[0] = __builtin_sqrtf(peak);
    found[1] = __builtin_log10f((peak + 1e-12f) / (work.order.median(inside, high - low) + 1e-6f));
    found[2] = float(__builtin_log2(double(low + best) / double(low)));
}

// The autocorrelation at long lags, as it is and with the spectrum made flat.
inline void describe_long_lags(Workspace& work, long n, float* found) {
    long size = 128;
    while (size < n + (n / 2 < LAST_LAG ? n / 2 : LAST_LAG)) size *= 2;
    float *power = work.a, *flat = work.b;
    if (size > 4 * LAG_SIZE) {
        transform_long(size, n, {work.x_re, work.x_im}, {work.c, work.d}, work.desk,
                       [power](long k, Float8 re, Float8 im) { store(power + k, re * re + im * im); });
    } else {
        Split x{work.c, work.d}, y{work.a, work.b};
        std::memcpy(x.re, work.x_re, n * sizeof(float)), std::memcpy(x.im, work.x_im, n * sizeof(float));
        for (long i = n; i < size; ++i) x.re[i] = x.im[i] = 0.0f;
        transform(plan_of(size), 1, x, y);
        for (long i = 0; i < size; ++i) power[i] = x.re[i] * x.re[i] + x.im[i] * x.im[i];
    }
    smooth_circle(power, size, size / 128 < 3 ? 3 : size / 128, flat);
    const float average = mean(power, size), least_smooth = 1e-9f * average + 1e-30f;
    float largest = 0;
    for (long i = 0; i < size; ++i) {
        flat[i] += least_smooth;
        largest = flat[i] > largest ? flat[i] : largest;
    }
    const float edge = 1.0f / (0.05f * largest), by = 1.0f / (average + 1e-30f);  // both spectra are as large then
    for (long i = 0; i < size; ++i) {
        const float over = power[i] / flat[i], inside = flat[i] * edge;
        flat[i] = (over < 6.0f ? over : 6.0f) * (inside < 1.0f ? inside : 1.0f);
        power[i] *= by;
    }
    Split x{power, flat}, y{work.c, work.d};
    transform_lags(size, x, y);
    const long round = size / LAG_SIZE < 8 ? size : LAG_SIZE;
    const long count = n / 2 < LAST_LAG ? n / 2 : LAST_LAG;
    float *as_is = y.re, *flattened = y.im;  // one behind the other would overlap: both have their own half
    const float scale = 0.5f / float(size);
    for (long l = 0; l < count; ++l) {
        const long back = l ? round - l : 0;
        const float re = x.re[l] + x.re[back], im = x.im[l] - x.im[back];
        const float other_re = x.im[l] + x.im[back], other_im = x.re[l] - x.re[back];
        as_is[l] = scale * __builtin_sqrtf(re * re + im * im);
        flattened[l] = scale * __builtin_sqrtf(other_re * other_re + other_im * other_im);
    }
    float* standout = found + 6 * RANGES;
    standout[0] = 0, standout[1] = 0;
    int best = -1;
    for (int i = 0; i < RANGES; ++i) {
        float* here = found + 6 * i;
        std::memset(here, 0, 6 * sizeof(float));
        if (RANGE[i][1] <= n / 2) {
            describe_range(work, as_is, RANGE[i][0], RANGE[i][1], here);
            describe_range(work, flattened, RANGE[i][0], RANGE[i][1], here + 3);
        }
        if (best >= 0 && !(here[4] > standout[0])) continue;
        best = i;
        standout[0] = here[4], standout[1] = float(__builtin_log2(double(RANGE[i][0]))) + here[5];
    }
}

}  // namespace
}  // namespace wavetell
