// A channel of the bank, as streaming/band/bank.py defines it. Every instruction set compiles its own copy.

#pragma once

#include <cstring>

#include "fft.h"
#include "signals.h"

namespace wavetell {
namespace {

// The middle half of the inverse transform of the `kept` bins around `bin`, weighted by the channel's response. All
// arrays hold complex numbers; `around` is how many bins the block and the channel share.
void channel(BandDesk& desk, const float* block, long size, long bin, const float* response, long around, float sign,
             long kept, float* out) {
    const bool fast = smooth(kept);
    const long room = padded(fast ? kept : 4 * kept, 16) + 16;
    float* const memory = desk.floats(4 * room);
    Split x{memory, memory + room}, y{memory + 2 * room, memory + 3 * room};
    if (around < kept) std::memset(memory, 0, 2 * room * sizeof(float));
    const float scale = sign / float(kept);
    const long half = around / 2;
    const auto copy = [&](long from, long to, long at, long count) {
        for (long i = 0; i < count; ++i) {
            const float re = block[2 * (from + i)], im = block[2 * (from + i) + 1];
            const float by_re = response[2 * (at + i)] * scale, by_im = response[2 * (at + i) + 1] * scale;
            x.re[to + i] = re * by_re - im * by_im;
            x.im[to + i] = re * by_im + im * by_re;
        }
    };
    for (long at = 0; at < around;) {  // at most four stretches: both the block and the channel are circles
        const long from = ((bin + at - half) % size + size) % size, to = ((at - half) % kept + kept) % kept;
        long count = around - at;
        if (count > size - from) count = size - from;
        if (count > kept - to) count = kept - to;
        copy(from, to, at, count);
        at += count;
    }
    Split back{x.im, x.re}, other{y.im, y.re};  // with the parts exchanged it goes backwards
    if (fast)
        transform(plan_of(kept), 1, back, other);
    else
        transform_any(kept, desk.chirps[kept], back, other);
    for (long i = 0, at = kept / 4; i < kept / 2; ++i, ++at) out[2 * i] = back.im[at], out[2 * i + 1] = back.re[at];
}

}  // namespace
}  // namespace wavetell
