// The features of an emission, as streaming/features defines them. Every instruction set compiles its own copy.

#pragma once

#include "fft.h"
#include "signals.h"
#include "spectrum.h"

namespace wavetell {
namespace {

constexpr int LAGS = 14, RANKS = 3, SHARES = 2, LINES = RANKS + SHARES, LINE_BINS = 8, QUANTILES = 17;
constexpr int POWERS = 5, COMPLEX = 7;
constexpr int LINE_AT = SERIES * LAGS, SPREAD_AT = LINE_AT + SERIES * LINES;
const long LAG[LAGS] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};
const long DELAY[2] = {16, 64};
const double SHARE[SHARES] = {0.5, 0.25};
const long RANK[RANKS] = {1, 4, 7};

// Sorts eight lanes of n values at once, n a power of two (Batcher's bitonic network).
inline void sort_lanes(float* lanes, long n) {
    for (long k = 2; k <= n; k *= 2)
        for (long j = k / 2; j > 0; j /= 2)
            for (long i = 0; i < n; ++i) {
                if (i & j) continue;
                float *one = lanes + 8 * i, *other = lanes + 8 * (i + j);
                const Float8 a = load<Float8>(one), b = load<Float8>(other);
                const bool up = (i & k) == 0;
                store(one, up ? least(a, b) : most(a, b));
                store(other, up ? most(a, b) : least(a, b));
            }
}

// Of lanes that hold the strongest bins of spectra: the logarithms of the strongest lines and of two quantiles.
inline void find_lines(float* lanes, long groups, int lane_count, float* found, long stride) {
    long n = 1;
    while (n < groups) n *= 2;
    for (long i = 8 * groups; i < 8 * n; ++i) lanes[i] = __builtin_inff();
    sort_lanes(lanes, n);
    for (int i = 0; i < LINES; ++i) {
        const long below = i < RANKS ? groups - RANK[i] : long(SHARE[i - RANKS] * double(groups));
        for (int lane = 0; lane < lane_count; ++lane)
            found[lane * stride + i] = __builtin_logf(lanes[8 * (below < 0 ? 0 : below) + lane] + 1e-3f);
    }
}

// The strongest of every eight bins of a spectrum, into one lane.
inline void strongest_bins(const float* power, long groups, float* lane) {
    for (long g = 0; g < groups; ++g) {
        float largest = power[LINE_BINS * g];
        for (int i = 1; i < LINE_BINS; ++i) {
            const float here = power[LINE_BINS * g + i];
            largest = here > largest ? here : largest;
        }
        lane[8 * g] = largest;
    }
}

// |X|^2 over its mean, which `faint` is added to; returns the mean.
inline float normalised_power(Split x, long n, float faint, float* power) {
    for (long i = 0; i < n; ++i) power[i] = x.re[i] * x.re[i] + x.im[i] * x.im[i];
    const float average = mean(power, n), by = 1.0f / (average + faint);
    for (long i = 0; i < n; ++i) power[i] *= by;
    return average;
}

// Two real series were transformed as one complex one: x = X + j Y. Their |X|^2 and |Y|^2.
inline void part_power(Split x, long n, float* one, float* other) {
    for (long i = 0; i < n; ++i) {
        const long j = i ? n - i : 0;
        const float re = x.re[i] + x.re[j], im = x.im[i] - x.im[j];
        const float turned = x.re[i] - x.re[j], second = x.im[i] + x.im[j];
        one[i] = 0.25f * (re * re + im * im);
        other[i] = 0.25f * (turned * turned + second * second);
    }
}

// Autocorrelations at lags, of two power spectra at once; with their sign, or their size.
inline void correlate(Split& x, Split& y, long n, Chirp& chirp, const long* lags, int count, const bool (&sign)[2],
                      float* one, float* other) {
    transform_any(n, chirp, x, y);
    const float scale = 0.5f / float(n);
    for (int i = 0; i < count; ++i) {
        const long at = lags[i] < n - 1 ? lags[i] : n - 1, back = (n - at) % n;
        const float re = scale * (x.re[at] + x.re[back]), im = scale * (x.im[at] - x.im[back]);
        const float re_other = scale * (x.im[at] + x.im[back]), im_other = scale * (x.re[at] - x.re[back]);
        one[i] = sign[0] ? re : __builtin_sqrtf(re * re + im * im);
        other[i] = sign[1] ? re_other : __builtin_sqrtf(re_other * re_other + im_other * im_other);
    }
}

class Window {
  public:
    Window(Workspace& work, const float* x_re, const float* x_im, long n, int number)
        : work(work), x_re(x_re), x_im(x_im), n(n), number(number), x{work.a, work.b}, y{work.c, work.d} {}

    void describe() {
        increments();
        for (int row = 0; row < POWERS; ++row) power_series(row), take(row);
        for (int row = POWERS; row < COMPLEX; ++row) beat(DELAY[row - POWERS]), take(row);
        real_series();
        float* found = work.rows + number * WINDOW_COUNT;
        for (int row = 0; row < SERIES; row += 2) {
            std::memcpy(x.re, power(row), n * sizeof(float));
            std::memcpy(x.im, power(row + 1), n * sizeof(float));
            const bool sign[2] = {row >= COMPLEX, row + 1 >= COMPLEX};
            correlate(x, y, n, work.window_chirp, LAG, LAGS, sign, found + row * LAGS, found + (row + 1) * LAGS);
        }
        double quantiles[QUANTILES];
        for (int i = 0; i < QUANTILES; ++i) quantiles[i] = 0.02 + 0.06 * i;
        work.order.quantiles(work.size, n, quantiles, QUANTILES, found + SPREAD_AT);
        work.order.weighted(work.phase + 1, work.weight + 1, n - 1, quantiles, QUANTILES, found + SPREAD_AT + QUANTILES);
    }

  private:
    Workspace& work;
    const float *x_re, *x_im;
    const long n;
    const int number;
    Split x, y;

    float* power(int row) { return work.power + row * WINDOW; }

    // The size of the samples; the size and the angle of their steps, about the mean step.
    void increments() {
        float *step_re = work.series[0], *step_im = work.series[1];
        step_re[0] = step_im[0] = work.weight[0] = 0.0f;
        for (long i = 0; i < n; ++i) work.size[i] = __builtin_sqrtf(x_re[i] * x_re[i] + x_im[i] * x_im[i]);
        for (long i = 1; i < n; ++i) {
            step_re[i] = x_re[i] * x_re[i - 1] + x_im[i] * x_im[i - 1];
            step_im[i] = x_im[i] * x_re[i - 1] - x_re[i] * x_im[i - 1];
            work.weight[i] = __builtin_sqrtf(step_re[i] * step_re[i] + step_im[i] * step_im[i]);
        }
        const Float8 re = spread<Float8>(mean(step_re, n)), im = spread<Float8>(mean(step_im, n));
        for (long i = 0; i < n; i += 8) {
            const Float8 a = load<Float8>(step_re + i), b = load<Float8>(step_im + i);
            store(work.phase + i, angle(b * re - a * im, a * re + b * im));
        }
        work.phase[0] = 0.0f;
    }

    // x, x^2, x^4, u^2, u^4 with u = x / (|x| + 0.1)
    void power_series(int row) {
        float *re = row < 3 ? work.series[0] : work.series[2], *im = row < 3 ? work.series[1] : work.series[3];
        if (row == 1)
            for (long i = 0; i < n; ++i) {
                re[i] = x_re[i] * x_re[i] - x_im[i] * x_im[i];
                im[i] = 2.0f * x_re[i] * x_im[i];
            }
        if (row == 3)
            for (long i = 0; i < n; ++i) {
                const float by = 1.0f / ((work.size[i] + 0.1f) * (work.size[i] + 0.1f));
                re[i] = (x_re[i] * x_re[i] - x_im[i] * x_im[i]) * by;
                im[i] = 2.0f * x_re[i] * x_im[i] * by;
            }
        const float *from_re = row ? re : x_re, *from_im = row ? im : x_im;
        const bool squared = row == 2 || row == 4;
        for (long i = 0; i < n; ++i) {
            x.re[i] = squared ? from_re[i] * from_re[i] - from_im[i] * from_im[i] : from_re[i];
            x.im[i] = squared ? 2.0f * from_re[i] * from_im[i] : from_im[i];
        }
    }

    // x times its conjugate some samples before, about its mean
    void beat(long delay) {
        for (long i = 0; i < n; ++i) x.re[i] = x.im[i] = 0.0f;
        for (long i = delay; i < n; ++i) {
            x.re[i] = x_re[i] * x_re[i - delay] + x_im[i] * x_im[i - delay];
            x.im[i] = x_im[i] * x_re[i - delay] - x_re[i] * x_im[i - delay];
        }
        centre(x.re, n), centre(x.im, n);
    }

    // The power, the increment and the size of the increment, about their means.
    void real_series() {
        const float* weight = work.weight;
        for (long i = 0; i < n; ++i) {
            x.re[i] = work.size[i] * work.size[i];
            x.im[i] = work.phase[i] * (weight[i] < 2.0f ? weight[i] : 2.0f);
        }
        centre(x.re, n), centre(x.im, n);
        transform_any(n, work.window_chirp, x, y);
        part_power(x, n, power(7), power(8));
        finish(7), finish(8);
        for (long i = 0; i < n; ++i) {
            const float turned = __builtin_fabsf(work.phase[i]);
            x.re[i] = (turned < 1.0f ? turned : 1.0f) * (weight[i] < 1.0f ? weight[i] : 1.0f);
            x.im[i] = 0.0f;
        }
        centre(x.re, n);
        take(9);
    }

    void take(int row) {
        transform_any(n, work.window_chirp, x, y);
        float* to = power(row);
        for (long i = 0; i < n; ++i) to[i] = x.re[i] * x.re[i] + x.im[i] * x.im[i];
        finish(row);
    }

    // Over the mean; and the strongest of every eight bins.
    void finish(int row) {
        float* of = power(row);
        const float by = 1.0f / (mean(of, n) + 1e-6f * float(n));
        for (long i = 0; i < n; ++i) of[i] *= by;
        strongest_bins(of, n / LINE_BINS, work.strongest + row * WINDOW + number);
    }
};

// Statistics of up to eight loud windows: mean, deviation, of lines the largest. Returns how many.
inline int describe_windows(Workspace& work, long n, float* found, float& mean_power, float& largest_power) {
    const long length = n < WINDOW ? n : WINDOW, count = n / length;
    float* power = work.e;
    largest_power = 0;
    for (long i = 0; i < count; ++i) {
        power[i] = mean_square(work.x_re + i * length, work.x_im + i * length, length);
        largest_power = power[i] > largest_power ? power[i] : largest_power;
    }
    mean_power = mean(power, count);
    long loud[MOST_SAMPLES / WINDOW], louds = 0;
    for (long i = 0; i < count; ++i)
        if (power[i] >= 0.1f * largest_power) loud[louds++] = i;
    const int windows = louds > WINDOWS ? WINDOWS : int(louds);
    for (int i = 0; i < windows; ++i) {
        const double step = double(louds - 1) / (WINDOWS - 1);
        const long at = loud[louds > WINDOWS ? long(__builtin_nearbyint(i * step)) : i] * length;
        Window(work, work.x_re + at, work.x_im + at, length, i).describe();
    }
    for (int row = 0; row < SERIES; ++row)
        find_lines(work.strongest + row * WINDOW, length / LINE_BINS, windows, work.rows + LINE_AT + row * LINES, WINDOW_COUNT);
    float *deviation = found + WINDOW_COUNT, *largest = deviation + WINDOW_COUNT;
    for (int i = 0; i < WINDOW_COUNT; ++i) {
        double sum = 0, square = 0;
        float most = work.rows[i];
        for (int row = 0; row < windows; ++row) {
            const float here = work.rows[row * WINDOW_COUNT + i];
            sum += here;
            most = here > most ? here : most;
        }
        for (int row = 0; row < windows; ++row) {
            const double apart = work.rows[row * WINDOW_COUNT + i] - sum / windows;
            square += apart * apart;
        }
        found[i] = float(sum / windows), deviation[i] = float(__builtin_sqrt(square / windows));
        if (LINE_AT <= i && i < SPREAD_AT) largest[i - LINE_AT] = most;
    }
    return windows;
}

// Power and frequency averaged over `scale` samples.
class Slow {
  public:
    static constexpr int LAGS = 10, QUANTILES = 9, COUNT = 1 + 2 * QUANTILES + 2 * (LAGS + LINES + 1);
    static constexpr long FEWEST = 16;

    Slow(Workspace& work, long n, long scale)
        : work(work), scale(scale), count(n / scale < WINDOW ? n / scale : WINDOW), first(n - count * scale) {}

    void describe(float* found) {
        std::memset(found, 0, COUNT * sizeof(float));
        if (count < FEWEST) return;
        average();
        float *power = work.size, *frequency = work.phase, *weight = work.weight;
        double quantiles[QUANTILES];
        for (int i = 0; i < QUANTILES; ++i) quantiles[i] = 0.05 + 0.1125 * i;
        found[0] = 1.0f;
        Split x{work.a, work.b}, y{work.c, work.d};
        for (long i = 0; i < count; ++i) {
            const float share = weight[i] / float(scale);
            x.re[i] = power[i] < 4.0f ? power[i] : 4.0f;
            x.im[i] = frequency[i] * (share < 1.5f ? share : 1.5f);
            power[i] = __builtin_sqrtf(power[i]);
        }
        work.order.quantiles(power, count, quantiles, QUANTILES, found + 1);
        work.order.weighted(frequency, weight, count, quantiles, QUANTILES, found + 1 + QUANTILES);
        centre(x.re, count), centre(x.im, count);
        transform_any(count, work.slow_chirp, x, y);
        float* spectra[2] = {work.power, work.power + WINDOW};
        part_power(x, count, spectra[0], spectra[1]);
        float *correlation = found + 1 + 2 * QUANTILES, *lines = correlation + 2 * LAGS, *total = lines + 2 * LINES;
        const bool enough = count >= LINE_BINS * LINE_BINS;
        for (int row = 0; row < 2; ++row) {
            const float average = mean(spectra[row], count), by = 1.0f / (average + 1e-4f * float(count));
            for (long i = 0; i < count; ++i) spectra[row][i] *= by;
            strongest_bins(spectra[row], count / LINE_BINS, work.strongest + row);
            total[row] = __builtin_log10f(average / float(count) + 1e-5f);
        }
        if (enough) find_lines(work.strongest, count / LINE_BINS, 2, lines, LINES);
        std::memcpy(x.re, spectra[0], count * sizeof(float));
        std::memcpy(x.im, spectra[1], count * sizeof(float));
        const long lags[LAGS] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
        const bool sign[2] = {true, true};
        correlate(x, y, count, work.slow_chirp, lags, LAGS, sign, correlation, correlation + LAGS);
    }

  private:
    Workspace& work;
    const long scale, count, first;

    // Into size, phase and weight: power, frequency about its mean, and how sure the frequency is.
    void average() {
        const float *re = work.x_re + first, *im = work.x_im + first;
        float *turned_re = work.series[0], *turned_im = work.series[1];
        for (long i = 0; i < count; ++i) {
            Float8 power{}, step_re{}, step_im{};
            for (long at = i * scale; at < (i + 1) * scale; at += 8) {
                const Float8 a = load<Float8>(re + at), b = load<Float8>(im + at);
                const Float8 before_a = load<Float8>(re + at - 1), before_b = load<Float8>(im + at - 1);
                power += a * a + b * b;
                step_re += a * before_a + b * before_b;
                step_im += b * before_a - a * before_b;
            }
            work.size[i] = sum(power) / float(scale);
            turned_re[i] = sum(step_re), turned_im[i] = sum(step_im);
        }
        turned_re[0] -= re[0] * re[-1] + im[0] * im[-1];  // the first step is not there
        turned_im[0] -= im[0] * re[-1] - re[0] * im[-1];
        const Float8 all_re = spread<Float8>(mean(turned_re, count) * float(count) + 1e-9f);
        const Float8 all_im = spread<Float8>(mean(turned_im, count) * float(count));
        for (long i = 0; i < count; i += 8) {
            const Float8 a = load<Float8>(turned_re + i), b = load<Float8>(turned_im + i);
            store(work.phase + i, angle(b * all_re - a * all_im, a * all_re + b * all_im));
        }
        for (long i = 0; i < count; ++i)
            work.weight[i] = __builtin_sqrtf(turned_re[i] * turned_re[i] + turned_im[i] * turned_im[i]) + 1e-9f;
    }
};

inline void describe(Workspace& work, const float* iq, long n, float snr_db, float* found) {
    if (n > MOST_SAMPLES) iq += 2 * (n - MOST_SAMPLES), n = MOST_SAMPLES;
    level(work, iq, n);
    float mean_power, largest_power;
    const int windows = describe_windows(work, n, found, mean_power, largest_power);
    found += 2 * WINDOW_COUNT + SERIES * LINES;
    for (const long scale : {8, 64}) Slow(work, n, scale).describe(found), found += Slow::COUNT;
    describe_shape(work, n, found), found += SHAPE_PARTS;
    describe_long_lags(work, n, found), found += LONG_COUNT;
    found[0] = snr_db / 10;
    found[1] = float(__builtin_log2(double(n)) / 4);
    found[2] = float(windows) / WINDOWS;
    found[3] = mean_power / (largest_power + 1e-9f);
    found[4] = __builtin_log10f(mean_square(work.x_re, work.x_im, n) + 1e-6f);
}

}  // namespace
}  // namespace wavetell
