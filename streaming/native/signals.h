// What happens to the samples of a band before and beside the encoder: spectra, channels, features of emissions.
// Each instruction set has a copy of the code; a thread's memory is reused from call to call.

#pragma once

#include <map>

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

// The memory in which a thread works on a band; it grows to what is needed and is kept.
class BandDesk {
  public:
    double* doubles(size_t n) { return room(numbers, n); }
    float* floats(size_t n) { return room(parts, n); }
    uint8_t* bytes(size_t n) { return room(masks, n); }
    long* places(size_t n) { return room(placed, n); }
    std::map<long, Chirp> chirps;  // by length

  private:
    std::vector<double> numbers;
    std::vector<float> parts;
    std::vector<uint8_t> masks;
    std::vector<long> placed;

    template <class T>
    static T* room(std::vector<T>& memory, size_t n) {
        if (memory.size() < n) memory.resize(n);
        return memory.data();
    }
};

enum Kind : int32_t { STEADY, BURST, BIRTH };
enum Verdict : int32_t { GOES_ON, ENDS, LOUDER, AGAIN, READY };  // AGAIN: to be measured; READY: to become tracks

// A track, or bins that are watched, as streaming/native_signals.py has it; masks hold one byte per bin.
struct Followed {
    uint8_t *mask, *reached;
    const uint8_t* splatter;  // of a track: bins of its products
    const double* floor;
    double* total;
    int64_t looks, last;
    double level, peak;
    int32_t kind, reaches;  // whether `reached` holds the look before
    int32_t verdict, unused;
};

// The constants of streaming/band/tracker.py and track.py.
struct FollowRules {
    double louder, fainter, present, shadow, on_top, within, heard, freedom, forgotten;
    int64_t together, watch, memory, closed, hang;
};

struct Signals {
    const char* name;
    // The features of complex samples, in the order of streaming/features.
    void (*describe)(Workspace& work, const float* iq, long n, float snr_db, float* features);
    void (*standout)(BandDesk& desk, const double* looks, long n, long bins, const double* floor, const double* limits,
                     int widths, uint8_t* found);
    void (*reorder)(double* ordered, long rows, long bins, const double* old, const double* fresh);
    long (*follow)(BandDesk& desk, const FollowRules& rules, const double* looks, const uint8_t* hot, long n, long bins,
                   const double* floor, Followed* tracks, long count, long at, double* sum, uint8_t* held, uint8_t* fresh);
    void (*settle)(BandDesk& desk, const FollowRules& rules, const double* look, long bins, Followed* tracks, long count,
                   double* sum, uint8_t* held);
    void (*channel)(BandDesk& desk, const float* block, long size, long bin, const float* response, long around,
                    float sign, long kept, float* out);
    void (*moments)(const float* iq, long n, long length, double* out);
    void (*apart)(const double* rows, long n, long columns, long earlier, long recent, double* out);
};

extern const Signals *const portable_signals, *const avx2_signals;

}  // namespace wavetell
