#include "order.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace wavetell {

namespace {

// Whole numbers in the order of the floats.
uint32_t key(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
}

float value_of(uint32_t key) {
    const uint32_t bits = key ^ (key >> 31 ? 0x80000000u : 0xffffffffu);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

float between(double a, double b, double share) { return float(a + (b - a) * share); }

}  // namespace

// By the upper halves of the pairs: three rounds of 11 bits.
void Order::sort() {
    constexpr int ROUNDS = 3, BITS = 11, BINS = 1 << BITS;
    uint32_t count[ROUNDS][BINS] = {};
    for (const uint64_t pair : pairs)
        for (int round = 0; round < ROUNDS; ++round) ++count[round][pair >> (32 + BITS * round) & (BINS - 1)];
    scratch.resize(pairs.size());
    for (int round = 0; round < ROUNDS; ++round) {
        uint32_t at = 0;
        for (uint32_t& bin : count[round]) {
            const uint32_t here = bin;
            bin = at;
            at += here;
        }
        for (const uint64_t pair : pairs) scratch[count[round][pair >> (32 + BITS * round) & (BINS - 1)]++] = pair;
        pairs.swap(scratch);
    }
}

void Order::quantiles(const float* values, long n, const double* q, int count, float* found) {
    pairs.resize(n);
    for (long i = 0; i < n; ++i) pairs[i] = uint64_t(key(values[i])) << 32;
    sort();
    for (int i = 0; i < count; ++i) {
        const double place = q[i] * double(n - 1);
        const long below = std::min(long(place), n - 1), above = std::min(below + 1, n - 1);
        const float a = value_of(uint32_t(pairs[below] >> 32)), b = value_of(uint32_t(pairs[above] >> 32));
        found[i] = between(a, b, place - double(below));
    }
}

// In float32 throughout, as NumPy sums: where two values lie far apart, the last bits of the sums decide between them.
void Order::weighted(const float* values, const float* weights, long n, const double* q, int count, float* found) {
    pairs.resize(n);
    for (long i = 0; i < n; ++i) {
        uint32_t bits;
        std::memcpy(&bits, weights + i, sizeof bits);
        pairs[i] = uint64_t(key(values[i])) << 32 | bits;
    }
    sort();
    chosen.resize(n);
    float all = 0;
    for (long i = 0; i < n; ++i) {
        const uint32_t bits = uint32_t(pairs[i]);
        float weight;
        std::memcpy(&weight, &bits, sizeof weight);
        chosen[i] = all += weight;
    }
    all += 1e-20f;
    const auto value = [this](long i) { return value_of(uint32_t(pairs[i] >> 32)); };
    for (int i = 0; i < count; ++i) {
        const auto above = std::partition_point(chosen.begin(), chosen.end(), [=](float sum) { return sum / all <= q[i]; });
        const long at = above - chosen.begin();
        if (at == 0 || at == n) {
            found[i] = value(at ? n - 1 : 0);
            continue;
        }
        const double below = chosen[at - 1] / all, step = double(chosen[at] / all) - below;
        found[i] = between(value(at - 1), value(at), (q[i] - below) / step);
    }
}

float Order::quantile(const float* values, long n, double q) {
    constexpr int SHIFT = 20, BINS = 1 << (32 - SHIFT);
    uint32_t count[BINS] = {};
    for (long i = 0; i < n; ++i) ++count[key(values[i]) >> SHIFT];
    const double place = q * double(n - 1);
    const long below = long(place), above = std::min(below + 1, n - 1);
    long before = 0;
    uint32_t first = 0;
    while (before + count[first] <= below) before += count[first++];
    uint32_t last = first;
    for (long end = before + count[first]; end <= above; end += count[last]) ++last;
    chosen.clear();
    for (long i = 0; i < n; ++i) {
        const uint32_t bin = key(values[i]) >> SHIFT;
        if (first <= bin && bin <= last) chosen.push_back(values[i]);
    }
    std::nth_element(chosen.begin(), chosen.begin() + (below - before), chosen.end());
    const float a = chosen[below - before];
    const float b = above == below ? a : *std::min_element(chosen.begin() + (below - before) + 1, chosen.end());
    return between(a, b, place - double(below));
}

float Order::median(const float* values, long n) {
    chosen.assign(values, values + n);
    std::nth_element(chosen.begin(), chosen.begin() + n / 2, chosen.end());
    if (n % 2) return chosen[n / 2];
    return 0.5f * (chosen[n / 2] + *std::max_element(chosen.begin(), chosen.begin() + n / 2));
}

}  // namespace wavetell
