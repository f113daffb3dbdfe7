// How a Fourier transform is cut into passes, with the twiddle factors of each; made once for a length and kept.

#pragma once

#include <vector>

namespace wavetell {

constexpr int MOST_PASSES = 18;
constexpr long STRIP = 16;  // columns that are transformed side by side: a cache line

// Stockham's algorithm: pass i has radix[i] and, for its m = n / (radices up to and including it) turns, the factors
// exp(-2 pi j p k / (m radix)), [k - 1][p], real parts first.
struct Plan {
    long n = 0;
    int passes = 0;
    int radix[MOST_PASSES];
    const float* twiddle[MOST_PASSES];
    const float* circle[MOST_PASSES];  // cosines, then sines, of 2 pi j / radix
    std::vector<float> memory;
};

// Bluestein's algorithm, for lengths with factors above 11: a convolution with a chirp.
struct Chirp {
    long n = 0;                             // none yet
    const Plan* plan = nullptr;             // of the convolution
    float *re = nullptr, *im = nullptr;     // exp(-pi j i^2 / n), i < n
    float *kernel_re = nullptr, *kernel_im = nullptr;  // the conjugate chirp around zero; its transform once `ready`
    bool ready = false;
    std::vector<float> memory;

    void make(long n);
};

// exp(-2 pi j r c / (rows columns)) for a transform that is cut into rows and columns: the product of a coarse factor,
// [strip][r], and a fine one, [r][column of the strip].
struct Turns {
    const float *coarse_re, *coarse_im, *fine_re, *fine_im;
    std::vector<float> memory;
};

// exp(-2 pi j l / n) for lags l = 0 .. count / 2 - 1, -count / 2 .. -1.
struct Lags {
    const float *re, *im;
    std::vector<float> memory;
};

bool smooth(long n);          // no factor above 11
const Plan& plan_of(long n);  // of a smooth length
const Turns& turns_of(long rows, long columns);
const Lags& lags_of(long n, long count);

}  // namespace wavetell
