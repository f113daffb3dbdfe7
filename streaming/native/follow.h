// Tracks are followed through looks, as streaming/band/tracker.py defines it. Where something begins, ends or is to be
// measured the tracker decides, before the look is settled. Every instruction set compiles its own copy.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "signals.h"

namespace wavetell {
namespace {

constexpr long EIGHT = 8;  // bins of a mask that are looked at together

inline uint64_t eight(const uint8_t* mask) {
    uint64_t value;
    std::memcpy(&value, mask, sizeof value);
    return value;
}

// The sum of an excess over the bins that are in both masks.
inline double power_in(const double* excess, const uint8_t* mask, const uint8_t* other, long bins) {
    double sum = 0.0;
    for (long k = 0; k < bins; k += EIGHT) {
        if (!(eight(mask + k) & eight(other + k))) continue;
        for (long i = k; i < k + EIGHT; ++i) sum += mask[i] & other[i] ? excess[i] : 0.0;
    }
    return sum;
}

// The sum of what a look has above a floor, and below it, in the bins of a mask that are not in another one.
inline double power_above(const double* look, const double* floor, const uint8_t* mask, const uint8_t* other, long bins) {
    double sum = 0.0;
    for (long k = 0; k < bins; k += EIGHT) {
        if (!(eight(mask + k) & ~eight(other + k))) continue;
        for (long i = k; i < k + EIGHT; ++i) sum += mask[i] & !other[i] ? look[i] - floor[i] : 0.0;
    }
    return sum;
}

// Calls take(first, end) for every run of a mask, gaps of up to `closed` bins closed, until it returns true.
template <class Take>
inline bool any_run(const uint8_t* mask, long bins, long closed, Take take) {
    for (long i = 0; i < bins;) {
        if (i % EIGHT == 0 && !eight(mask + i)) {
            i += EIGHT;
            continue;
        }
        if (!mask[i]) {
            ++i;
            continue;
        }
        const long first = i;
        long end = ++i;
        for (; i < bins && i - end <= closed; ++i)
            if (mask[i]) end = i + 1;
        if (take(first, end)) return true;
    }
    return false;
}

inline bool touches(const uint8_t* mask, const uint8_t* other, long bins) {
    for (long k = 0; k < bins; k += EIGHT)
        if (eight(mask + k) & eight(other + k)) return true;
    return false;
}

// The runs of hot bins whose strongest bin lies in a mask.
inline void own_regions(const uint8_t* mask, const double* excess, const uint8_t* hot, long bins, long closed,
                        uint8_t* grown) {
    std::fill_n(grown, bins, uint8_t(0));
    if (!touches(mask, hot, bins)) return;
    any_run(hot, bins, closed, [&](long first, long end) {
        long strongest = first;
        for (long i = first + 1; i < end; ++i)
            if (excess[i] > excess[strongest]) strongest = i;
        if (mask[strongest]) std::fill(grown + first, grown + end, uint8_t(1));
        return false;
    });
}

// A mask and two bins to either side of it.
inline void widen(const uint8_t* mask, long bins, uint8_t* wide) {
    wide[0] = mask[0] | mask[1] | mask[2], wide[1] = wide[0] | mask[3];
    for (long k = 2; k < bins - 2; ++k) wide[k] = mask[k - 2] | mask[k - 1] | mask[k] | mask[k + 1] | mask[k + 2];
    wide[bins - 1] = mask[bins - 1] | mask[bins - 2] | mask[bins - 3], wide[bins - 2] = wide[bins - 1] | mask[bins - 4];
}

// Takes bins out of a mask: those of another one.
inline void take_out(uint8_t* __restrict mask, const uint8_t* __restrict other, long bins) {
    for (long k = 0; k < bins; ++k) mask[k] &= uint8_t(1 ^ other[k]);
}

inline void unite(uint8_t* __restrict mask, const uint8_t* __restrict other, long bins) {
    for (long k = 0; k < bins; ++k) mask[k] |= other[k];
}

inline void accumulate(double* __restrict sum, const double* __restrict values, long bins) {
    for (long k = 0; k < bins; ++k) sum[k] += values[k];
}

// What one look is followed with.
struct Follower {
    const FollowRules& rules;
    long bins;
    Followed* tracks;
    long count;
    double* excess = nullptr;                                    // [bins]
    uint8_t *free = nullptr, *hot = nullptr, *around = nullptr;  // [bins]
    uint8_t* claims = nullptr;                                   // [bins]: how many tracks have each bin, 2 for more
    uint8_t* grown = nullptr;                                    // [count][bins]
    double *power = nullptr, *level = nullptr, *sure = nullptr;  // [count]; power and level are as after this look
    uint8_t *heard = nullptr, *none = nullptr;                   // [count]: in this look; [bins] of zeros
    long *lowest = nullptr, *highest = nullptr;                  // [count]: the bins of a steady track are in between

    void begin();
    double above(long i, const double* spectrum, const uint8_t* other) const;
    void claim(const uint8_t* mask);
    Verdict burst(long i, long at);
    Verdict watched(long i, long at);
    Verdict steady(long i, const double* spectrum, long at);
    bool is_followed(const Followed& track) const { return track.verdict != ENDS && track.verdict != LOUDER; }
    bool rises(const double* spectrum, long first, long end, double loudest) const;
    bool look(const double* spectrum, const double* floor, const uint8_t* found, long at, uint8_t* fresh);
    void add(Followed& track, const double* spectrum, long i, long at);
    void settle(const double* spectrum, double* sum, uint8_t* held);
};

// What is the same in all looks: where the bins of steady emissions are, and how strong these must be to be heard.
void Follower::begin() {
    std::fill_n(none, bins, uint8_t(0));
    for (long i = 0; i < count; ++i) {
        const Followed& track = tracks[i];
        if (track.kind != STEADY) continue;
        lowest[i] = 0, highest[i] = bins;
        while (lowest[i] < bins && !eight(track.mask + lowest[i])) lowest[i] += EIGHT;
        while (highest[i] > lowest[i] && !eight(track.mask + highest[i] - EIGHT)) highest[i] -= EIGHT;
        double below = 0.0;
        long size = 0;
        for (long k = lowest[i]; k < highest[i]; ++k) below += track.mask[k] ? track.floor[k] : 0.0, size += track.mask[k];
        sure[i] = rules.heard * below / std::sqrt(rules.freedom * double(size));
    }
}

// What a steady track has above its floor, but for bins that are in a mask.
double Follower::above(long i, const double* spectrum, const uint8_t* other) const {
    const Followed& track = tracks[i];
    const long at = lowest[i];
    return power_above(spectrum + at, track.floor + at, track.mask + at, other + at, highest[i] - at);
}

void Follower::claim(const uint8_t* __restrict mask) {
    uint8_t* __restrict claimed = claims;
    for (long k = 0; k < bins; ++k) claimed[k] = uint8_t(std::min(2, claimed[k] + mask[k]));
}

// A track that was not there before the stream.
Verdict Follower::burst(long i, long at) {
    const Followed& track = tracks[i];
    uint8_t* const mine = grown + i * bins;
    heard[i] = 0;
    power[i] = power_in(excess, track.mask, free, bins);
    if (power[i] > rules.louder * track.level && track.looks > rules.together) return LOUDER;
    const uint8_t* __restrict mask = track.mask;
    uint8_t* __restrict unclaimed = hot;
    for (long k = 0; k < bins; ++k) unclaimed[k] = free[k] & uint8_t(claims[k] <= mask[k]);
    own_regions(track.mask, excess, hot, bins, rules.closed, mine);
    widen(track.mask, bins, around);
    take_out(free, mine, bins), take_out(free, around, bins);
    heard[i] = power[i] > rules.fainter * track.level;
    return heard[i] || at - track.last <= rules.hang ? GOES_ON : ENDS;
}

// Bins that rose together and are not a track yet.
Verdict Follower::watched(long i, long at) {
    const Followed& birth = tracks[i];
    uint8_t* const mine = grown + i * bins;
    heard[i] = 0;
    power[i] = power_in(excess, birth.mask, free, bins);
    if (power[i] > rules.louder * birth.level && birth.looks > rules.together) return LOUDER;
    own_regions(birth.mask, excess, free, bins, rules.closed, mine);
    take_out(free, mine, bins), take_out(free, birth.mask, bins);
    heard[i] = power[i] > rules.fainter * birth.level;
    return birth.looks + heard[i] < rules.watch && (heard[i] || at - birth.last <= rules.hang) ? GOES_ON : READY;
}

// A track that was there before the stream began: it is heard where its bins are surely above the noise.
Verdict Follower::steady(long i, const double* spectrum, long at) {
    const Followed& track = tracks[i];
    power[i] = above(i, spectrum, none);
    heard[i] = power[i] > sure[i];
    return heard[i] || at - track.last <= rules.hang ? GOES_ON : ENDS;
}

// Whether a run of bins is not a product of something stronger, nor a steady emission's own.
bool Follower::rises(const double* spectrum, long first, long end, double loudest) const {
    double sum = 0.0;
    for (long k = first; k < end; ++k) sum += excess[k];
    if (sum <= rules.shadow * loudest) return false;
    for (long i = 0; i < count; ++i) {
        const Followed& track = tracks[i];
        if (track.kind != STEADY || !is_followed(track)) continue;
        long from = lowest[i], to = highest[i];  // its bins are [from, to)
        while (from < to && !track.mask[from]) ++from;
        while (to > from && !track.mask[to - 1]) --to;
        if (first >= 2 * to - from || end <= 2 * from - to) continue;
        double inside = 0.0, all = 0.0;
        for (long k = first; k < end; ++k) {
            all += spectrum[k] - track.floor[k];
            inside += track.mask[k] ? spectrum[k] - track.floor[k] : 0.0;
        }
        long size = 0;
        for (long k = from; k < to; ++k) size += track.mask[k];
        const double enough = rules.on_top * sum, swing = rules.heard * level[i] / std::sqrt(rules.freedom * double(size));
        const bool within = inside > rules.within * all;
        if (within ? power[i] - track.peak <= enough : level[i] - power[i] > enough + swing) return false;
    }
    return true;
}

// One look: what becomes of every track, and the bins where something begins. True where the tracker has to decide.
bool Follower::look(const double* spectrum, const double* floor, const uint8_t* found, long at, uint8_t* fresh) {
    for (long k = 0; k < bins; ++k) excess[k] = spectrum[k] > floor[k] ? spectrum[k] - floor[k] : 0.0;
    std::memcpy(free, found, bins);
    for (long i = 0; i < count; ++i)
        if (tracks[i].kind != BIRTH) take_out(free, tracks[i].splatter, bins);
    std::memset(claims, 0, bins);
    for (long i = 0; i < count; ++i)
        if (tracks[i].kind == BURST && power_in(excess, tracks[i].mask, free, bins) > rules.present * tracks[i].level)
            claim(tracks[i].mask);
    bool decides = false;
    double loudest = 0.0;
    for (long i = 0; i < count; ++i) {
        Followed& track = tracks[i];
        level[i] = track.level;
        track.verdict = track.kind == STEADY ? steady(i, spectrum, at) : track.kind == BURST ? burst(i, at) : watched(i, at);
        if (heard[i]) {
            const long looks = track.looks + 1;
            if (track.kind != BIRTH && looks >= 2 * rules.watch && !(looks & (looks - 1))) track.verdict = AGAIN;
            const long over = track.kind == BIRTH || looks < rules.memory ? looks : rules.memory;
            level[i] += (power[i] - level[i]) / double(over);
        }
        decides |= track.verdict != GOES_ON;
        if (is_followed(track) && level[i] > loudest) loudest = level[i];
    }
    std::fill_n(fresh, bins, uint8_t(0));
    any_run(free, bins, rules.closed, [&](long first, long end) {
        if (!rises(spectrum, first, end, loudest)) return false;
        std::fill(fresh + first, fresh + end, uint8_t(1));
        decides = true;
        return false;
    });
    for (long i = 0; i < count; ++i)
        if (heard[i]) add(tracks[i], spectrum, i, at);
    return decides;
}

void Follower::add(Followed& track, const double* spectrum, long i, long at) {
    uint8_t* const mine = grown + i * bins;
    if (track.kind == BIRTH) {
        unite(track.mask, mine, bins);
    } else if (track.kind == BURST) {
        if (track.reaches) {
            uint8_t* __restrict mask = track.mask;
            const uint8_t *__restrict reached = track.reached, *__restrict now = mine;
            for (long k = 0; k < bins; ++k) mask[k] |= now[k] & reached[k];
        }
        std::memcpy(track.reached, mine, bins);
        track.reaches = 1;
    }
    // The bins of a steady track stay the same: what is beside them is never asked for.
    const long first = track.kind == STEADY ? lowest[i] : 0, size = (track.kind == STEADY ? highest[i] : bins) - first;
    if (track.looks)
        accumulate(track.total + first, spectrum + first, size);
    else
        std::memcpy(track.total + first, spectrum + first, size * sizeof(double));
    ++track.looks;
    track.last = at, track.level = level[i];
}

// After all decisions of a look: what steady emissions have had at most, and what the floor learns from it.
void Follower::settle(const double* spectrum, double* sum, uint8_t* held) {
    std::fill_n(hot, bins, uint8_t(0));  // now the bins that are held
    for (long i = 0; i < count; ++i)
        if (tracks[i].kind != STEADY) unite(hot, tracks[i].mask, bins);
    for (long i = 0; i < count; ++i) {
        Followed& track = tracks[i];
        if (track.kind != STEADY) continue;
        track.peak = std::max(rules.forgotten * track.peak, above(i, spectrum, hot));
    }
    unite(held, hot, bins);
    accumulate(sum, spectrum, bins);
}

Follower open_follower(BandDesk& desk, const FollowRules& rules, long bins, Followed* tracks, long count) {
    Follower follower{rules, bins, tracks, count};
    follower.excess = desk.doubles(bins + 3 * count);
    follower.power = follower.excess + bins, follower.level = follower.power + count, follower.sure = follower.level + count;
    follower.free = desk.bytes((5 + count) * bins + count);
    follower.hot = follower.free + bins, follower.around = follower.hot + bins, follower.none = follower.around + bins;
    follower.claims = follower.none + bins, follower.grown = follower.claims + bins;
    follower.heard = follower.grown + count * bins;
    follower.lowest = desk.places(2 * count), follower.highest = follower.lowest + count;
    follower.begin();
    return follower;
}

// Looks [n][bins] with their hot bins over a floor, from look `at` on: how many of them were followed. Where the next
// one needs decisions, -1 less that number: its tracks are followed, but it is not settled; `fresh` are the bins where
// something begins.
long follow(BandDesk& desk, const FollowRules& rules, const double* looks, const uint8_t* hot, long n, long bins,
            const double* floor, Followed* tracks, long count, long at, double* sum, uint8_t* held, uint8_t* fresh) {
    Follower follower = open_follower(desk, rules, bins, tracks, count);
    for (long i = 0; i < n; ++i) {
        if (follower.look(looks + i * bins, floor, hot + i * bins, at + i, fresh)) return -1 - i;
        follower.settle(looks + i * bins, sum, held);
    }
    return n;
}

void settle(BandDesk& desk, const FollowRules& rules, const double* look, long bins, Followed* tracks, long count,
            double* sum, uint8_t* held) {
    open_follower(desk, rules, bins, tracks, count).settle(look, sum, held);
}

}  // namespace
}  // namespace wavetell
