// The memory of each thread, and the plain C interface that Python loads with ctypes.

#include "signals.h"

#include <string>
#include <utility>

namespace wavetell {

namespace {

constexpr long SPARE = 512, STRIP_ROOM = 64 * 512, LONG_ROOM = LONGEST + STRIP_ROOM;
constexpr long SIZES[] = {MOST_SAMPLES,   MOST_SAMPLES,   LONG_ROOM, LONG_ROOM, LONG_ROOM, LONG_ROOM, LONG_ROOM, STRIP_ROOM,
                          WINDOWS * WINDOW_COUNT, SERIES * WINDOW, SERIES * WINDOW, WINDOW, WINDOW, WINDOW, WINDOW, WINDOW,
                          WINDOW, WINDOW};

long all_sizes() {
    long sum = SPARE;
    for (const long size : SIZES) sum += size + SPARE;
    return sum;
}

}  // namespace

Workspace::Workspace() : memory(all_sizes()) {
    float** const parts[] = {&x_re, &x_im,  &a,    &b,      &c,     &d,         &e,         &desk,      &rows,
                             &power, &strongest, &size, &weight, &phase, &series[0], &series[1], &series[2], &series[3]};
    float* at = memory.data() + SPARE;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; ++i) *parts[i] = at, at += SIZES[i] + SPARE;
}

namespace {

// The memory of this thread; what other code has left there has other bits.
Workspace& workspace(const Signals* signals) {
    thread_local Workspace work;
    thread_local const Signals* last = nullptr;
    if (last != signals) work.window_chirp.n = work.slow_chirp.n = 0;
    last = signals;
    return work;
}

// What other code has left there has other bits.
BandDesk& band_desk(const void* signals) {
    thread_local std::map<const void*, BandDesk> desks;
    return desks[signals];
}

const Signals& code_of(const void* signals) { return *static_cast<const Signals*>(signals); }

}  // namespace

}  // namespace wavetell

using namespace wavetell;

extern "C" {

// The code for an instruction set, for the calls below; nullptr where it is not compiled in.
const void* wavetell_signals(const char* isa) {
    for (const Signals* signals : {portable_signals, avx2_signals})
        if (signals && std::string(isa) == signals->name) return signals;
    return nullptr;
}

// `features` has room for all of them.
void wavetell_describe(const void* signals, const float* iq, int64_t samples, float snr_db, float* features) {
    const Signals* code = static_cast<const Signals*>(signals);
    code->describe(workspace(code), iq, samples, snr_db, features);
}

void wavetell_standout(const void* signals, const double* looks, int64_t n, int64_t bins, const double* floor,
                       const double* limits, int widths, uint8_t* found) {
    code_of(signals).standout(band_desk(signals), looks, n, bins, floor, limits, widths, found);
}

void wavetell_reorder(const void* signals, double* ordered, int64_t rows, int64_t bins, const double* old,
                      const double* fresh) {
    code_of(signals).reorder(ordered, rows, bins, old, fresh);
}

int64_t wavetell_follow(const void* signals, const FollowRules* rules, const double* looks, const uint8_t* hot,
                        int64_t n, int64_t bins, const double* floor, Followed* tracks, int64_t count, int64_t at,
                        double* sum, uint8_t* held, uint8_t* fresh) {
    return code_of(signals).follow(band_desk(signals), *rules, looks, hot, n, bins, floor, tracks, count, at, sum, held,
                                   fresh);
}

void wavetell_settle(const void* signals, const FollowRules* rules, const double* look, int64_t bins, Followed* tracks,
                     int64_t count, double* sum, uint8_t* held) {
    code_of(signals).settle(band_desk(signals), *rules, look, bins, tracks, count, sum, held);
}

void wavetell_channel(const void* signals, const float* block, int64_t size, int64_t bin, const float* response,
                      int64_t around, float sign, int64_t kept, float* out) {
    code_of(signals).channel(band_desk(signals), block, size, bin, response, around, sign, kept, out);
}

void wavetell_apart(const void* signals, const double* rows, int64_t n, int64_t columns, int64_t earlier,
                    int64_t recent, double* out) {
    code_of(signals).apart(rows, n, columns, earlier, recent, out);
}

void wavetell_moments(const void* signals, const float* iq, int64_t n, int64_t length, double* out) {
    code_of(signals).moments(iq, n, length, out);
}

}  // extern "C"
