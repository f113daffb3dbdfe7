// What happens to the samples of a band before and beside the encoder: spectra, channels, features of emissions.
// Each instruction set has a copy of the code; a thread's memory is reused from call to call.

#pragma once

#include "fft_plan.h"
#include "model.h"
#include "order.h"

namespace wavetell {

constexpr long MOST_SAMPLES = 131072;  // of an emission that are described
constexpr long LONGEST = 262144;       // transform of them
constexpr long WINDOW = 2048;          // samples of a window
constexpr int WINDOWS = 8, SERIES = 10, WINDOW_COUNT = 224;

// The memory of one thread; vectors may reach a little over the ends of every array.
struct Workspace {
    float *x_re, *x_im;                      // [MOST_SAMPLES] at unit level
    float *a, *b, *c, *d, *e;                // [LONGEST + 64 * 512]
    float* desk;                             // [64 * 512], for strips of a long transform
    float* rows;                             // [WINDOWS][WINDOW_COUNT]
    float *power, *strongest;                // [SERIES][WINDOW]
    float *size, *weight, *phase;            // [WINDOW]
    float* series[4];                        // [WINDOW]
    Chirp window_chirp, slow_chirp;
    Order order;

    Workspace();

  private:
    Aligned<float> memory;  // or compiled loops would begin elsewhere, and round differently, in another thread
};

struct Signals {
    const char* name;
    // The features of complex samples, in the order of streaming/features.
    void (*describe)(Workspace& work, const float* iq, long n, float snr_db, float* features);
};

extern const Signals *const portable_signals, *const avx2_signals;


}  // namespace wavetell
