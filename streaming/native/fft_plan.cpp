#include "fft_plan.h"

#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace wavetell {

namespace {

constexpr double TWO_PI = 6.283185307179586476925286766559;

// Large radices first: the first pass is the only one that has to shuffle.
std::vector<int> radices(long n) {
    std::vector<int> found;
    if (n % 8 == 0) found.push_back(8), n /= 8;
    for (const int radix : {4, 2, 3, 5, 7, 11})
        for (; n % radix == 0; n /= radix) found.push_back(radix);
    if (n > 1) found.clear();
    return found;
}

// Pairs of real and imaginary parts become all real parts, then all imaginary ones.
void part(std::vector<float>& pairs) {
    std::vector<float> parted(pairs.size());
    for (size_t i = 0; i < pairs.size(); ++i) parted[i / 2 + i % 2 * pairs.size() / 2] = pairs[i];
    pairs.swap(parted);
}

std::unique_ptr<Plan> make_plan(long n) {
    auto plan = std::make_unique<Plan>();
    plan->n = n;
    const std::vector<int> found = radices(n);
    plan->passes = int(found.size());
    std::vector<size_t> at, round;
    long left = n;
    for (const int radix : found) {
        const long m = left / radix;
        at.push_back(plan->memory.size());
        for (const bool imaginary : {false, true})
            for (int k = 1; k < radix; ++k)
                for (long p = 0; p < m; ++p) {
                    const double angle = -TWO_PI * double(p * k % left) / double(left);
                    plan->memory.push_back(float(imaginary ? std::sin(angle) : std::cos(angle)));
                }
        round.push_back(plan->memory.size());
        for (int j = 0; j < radix; ++j) plan->memory.push_back(float(std::cos(TWO_PI * j / radix)));
        for (int j = 0; j < radix; ++j) plan->memory.push_back(float(std::sin(TWO_PI * j / radix)));
        left = m;
    }
    for (size_t i = 0; i < found.size(); ++i) {
        plan->radix[i] = found[i];
        plan->twiddle[i] = plan->memory.data() + at[i];
        plan->circle[i] = plan->memory.data() + round[i];
    }
    return plan;
}

std::unique_ptr<Turns> make_turns(long rows, long columns) {
    auto turns = std::make_unique<Turns>();
    const auto add = [&](long r, long c) {
        const double angle = -TWO_PI * double(r * c) / double(rows * columns);
        turns->memory.push_back(float(std::cos(angle)));
        turns->memory.push_back(float(std::sin(angle)));
    };
    for (long c = 0; c < columns; c += STRIP)
        for (long r = 0; r < rows; ++r) add(r, c);
    for (long r = 0; r < rows; ++r)
        for (long i = 0; i < STRIP; ++i) add(r, i);
    const long coarse = rows * columns / STRIP, fine = rows * STRIP;
    part(turns->memory);
    turns->coarse_re = turns->memory.data(), turns->fine_re = turns->coarse_re + coarse;
    turns->coarse_im = turns->fine_re + fine, turns->fine_im = turns->coarse_im + coarse;
    return turns;
}

std::unique_ptr<Lags> make_lags(long n, long count) {
    auto lags = std::make_unique<Lags>();
    for (long i = 0; i < count; ++i) {
        const double angle = -TWO_PI * double(i < count / 2 ? i : i - count) / double(n);
        lags->memory.push_back(float(std::cos(angle)));
        lags->memory.push_back(float(std::sin(angle)));
    }
    part(lags->memory);
    lags->re = lags->memory.data(), lags->im = lags->re + count;
    return lags;
}

template <class Key, class Value, class Make>
const Value& kept(std::map<Key, std::unique_ptr<Value>>& all, const Key& key, Make make) {
    static std::mutex mutex;
    std::lock_guard<std::mutex> guard(mutex);
    std::unique_ptr<Value>& value = all[key];
    if (!value) value = make();
    return *value;
}

}  // namespace

bool smooth(long n) { return n == 1 || !radices(n).empty(); }

const Plan& plan_of(long n) {
    static std::map<long, std::unique_ptr<Plan>> all;
    return kept(all, n, [n] { return make_plan(n); });
}

const Turns& turns_of(long rows, long columns) {
    static std::map<std::pair<long, long>, std::unique_ptr<Turns>> all;
    return kept(all, std::make_pair(rows, columns), [=] { return make_turns(rows, columns); });
}

const Lags& lags_of(long n, long count) {
    static std::map<std::pair<long, long>, std::unique_ptr<Lags>> all;
    return kept(all, std::make_pair(n, count), [=] { return make_lags(n, count); });
}

void Chirp::make(long length) {
    if (n == length) return;
    n = length, ready = false;
    long size = 8;
    while (size < 2 * n - 1) size *= 2;
    plan = &plan_of(size);
    memory.assign(2 * (n + size), 0.0f);
    re = memory.data(), im = re + n, kernel_re = im + n, kernel_im = kernel_re + size;
    for (long i = 0; i < n; ++i) {
        const double angle = -TWO_PI / 2 * double(i * i % (2 * n)) / double(n);
        re[i] = float(std::cos(angle)), im[i] = float(std::sin(angle));
        kernel_re[i] = kernel_re[(size - i) % size] = re[i];
        kernel_im[i] = kernel_im[(size - i) % size] = -im[i];
    }
}

}  // namespace wavetell
