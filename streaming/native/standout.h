// Bins of looks that stand out of the floor, as streaming/band/regions.py defines it: the same operations in the same
// order, so with the same result. Every instruction set compiles its own copy.

#pragma once

#include <cstring>

#include "signals.h"

namespace wavetell {
namespace {

// The sums of all values before each, and of all, below[bins + 1], from a bin on.
inline void sum_below(const double* values, long first, long bins, double* below) {
    double sum = below[first];
    for (long i = first; i < bins; ++i) below[i + 1] = sum += values[i];
}

// Where the mean of the `width` values from a bin on is above a limit: above[bins - width + 1]; whether any is. `width`
// is a power of two, so that to multiply by its inverse is to divide.
inline bool find_above(const double* below, long bins, long width, double limit, uint8_t* above) {
    const double share = 1.0 / double(width);
    uint8_t any = 0;
    for (long i = 0; i <= bins - width; ++i) any |= above[i] = (below[i + width] - below[i]) * share > limit;
    return any;
}

// Means above the limit make those of the bins around them hot that are not weak themselves; the first of them.
inline long mark(const double* below, long bins, long width, double limit, const uint8_t* above, uint8_t* found) {
    const double least = 1.0 + (limit - 1.0) / 2;
    const long near = width < 4 ? 1 : width / 4, last = bins - width;
    const double share = 1.0 / double(near);
    long done = 0, first_found = bins;
    for (long start = 0; start <= last; ++start) {
        if (!above[start]) continue;
        // The means around bins [first, end) begin here, and the bins around these are [from, to).
        const long first = start ? start + width / 2 : 0, end = start < last ? start + width / 2 + 1 : bins;
        const long from = first < width ? 0 : first - width / 2 + 1, to = end > last ? bins : end + width / 2;
        for (long i = from > done ? from : done; i < to; ++i) {
            long at = i - near / 2;
            at = at < 0 ? 0 : at > bins - near ? bins - near : at;
            if (found[i] || !((below[at + near] - below[at]) * share > least)) continue;
            found[i] = 1;
            if (i < first_found) first_found = i;
        }
        if (to > done) done = to;
    }
    return first_found;
}

// looks[n][bins] over floor[bins]; means over 1, 2, 4, ... bins have a limit each.
void standout(BandDesk& desk, const double* looks, long n, long bins, const double* floor, const double* limits,
              int widths, uint8_t* found) {
    double* const ratio = desk.doubles(2 * bins + 1);
    double* const below = ratio + bins;
    uint8_t* const above = desk.bytes(bins);
    for (long row = 0; row < n; ++row, looks += bins, found += bins) {
        for (long i = 0; i < bins; ++i) {
            const double value = looks[i] / floor[i];
            found[i] = value > limits[0];
            ratio[i] = value > limits[0] ? 1.0 : value;
        }
        below[0] = 0.0;
        sum_below(ratio, 0, bins, below);
        for (int i = 1; i < widths; ++i) {
            if (!find_above(below, bins, 1L << i, limits[i], above)) continue;
            const long first = mark(below, bins, 1L << i, limits[i], above, found);
            for (long j = first; j < bins; ++j) ratio[j] = found[j] ? 1.0 : ratio[j];
            sum_below(ratio, first, bins, below);
        }
    }
}

// Columns that are sorted downwards, ordered[rows][bins], lose a value `old` each, where there is one, and gain one.
void reorder(double* ordered, long rows, long bins, const double* old, const double* fresh) {
    constexpr long CHUNK = 64;
    for (long first = 0; first < bins; first += CHUNK) {
        const long count = bins - first < CHUNK ? bins - first : CHUNK;
        double carried[CHUNK];
        if (old) {  // from where it stands on, each value takes the place of the one before
            bool gone[CHUNK] = {};
            for (long row = 0; row + 1 < rows; ++row) {
                double* const here = ordered + row * bins + first;
                for (long i = 0; i < count; ++i) {
                    gone[i] |= here[i] == old[first + i];
                    here[i] = gone[i] ? here[bins + i] : here[i];
                }
            }
        }
        for (long i = 0; i < count; ++i) carried[i] = fresh[first + i];
        for (long row = 0; row + 1 < rows; ++row) {
            double* const here = ordered + row * bins + first;
            for (long i = 0; i < count; ++i) {
                const double value = here[i];
                here[i] = value < carried[i] ? value : carried[i];
                carried[i] = value < carried[i] ? carried[i] : value;
            }
        }
        for (long i = 0; i < count; ++i) ordered[(rows - 1) * bins + first + i] = carried[i];
    }
}

}  // namespace
}  // namespace wavetell
