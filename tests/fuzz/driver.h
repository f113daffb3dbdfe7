// Random encoders and samples for the drivers of the kernel, through its C interface.

#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" {
int wavetell_supports(const char* isa);
void* wavetell_engine(const char* isa, int activation, int taps, int hop, int parts, int threads);
void wavetell_map(void* engine, int map);
void wavetell_stage(void* engine, int in, int out, int kernel, int stride, const float* taps, const float* bias);
void wavetell_block(void* engine, int in, int out, int dilation, const float* taps1, const float* bias1,
                    const float* taps2, const float* bias2, const float* residual, const float* residual_bias);
void wavetell_ready(void* engine);
void wavetell_engine_close(void* engine);
void* wavetell_stream(void* engine);
void wavetell_stream_close(void* stream);
void wavetell_reset(void* stream);
int64_t wavetell_push_one(void* engine, void* stream, const float* iq, int64_t samples, float* hops);
const void* wavetell_signals(const char* isa);
void wavetell_describe(const void* signals, const float* iq, int64_t samples, float snr_db, float* features);
}

namespace {

using Floats = std::vector<float>;
thread_local std::mt19937_64 chance;

int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(chance); }

Floats values(size_t count, float scale) {
    std::normal_distribution<float> normal(0, scale);
    Floats made(count);
    for (float& value : made) value = normal(chance);
    return made;
}

// Samples as they come from a radio, or what nobody should send: denormal, huge, not finite.
Floats samples(int count, bool hostile) {
    Floats made = values(2 * size_t(count), 1);
    const float ugly[] = {0, -0.0f, 1e-45f, 1e-38f, 3e38f, -3e38f, INFINITY, NAN};
    if (hostile && count)
        for (int edits = between(1, 4); edits; --edits) made[between(0, 2 * count - 1)] = ugly[between(0, 7)];
    return made;
}

struct Encoder {
    void* engine;
    int64_t hop, hop_size;
};

Encoder encoder(const char* isa, int threads) {
    const int taps = between(1, 4), depth = between(1, 4), parts = between(2, 3);
    std::vector<int> strides(between(0, 3));
    int hop = between(1, 200);
    for (int& stride : strides) hop *= stride = between(1, 4);
    void* engine = wavetell_engine(isa, between(0, 2), taps, hop, parts, threads);
    if (!engine) std::abort();
    int in = 0, out = 0;
    for (int map = 0; map < 12; ++map)
        if (map == 0 || between(0, 1)) {
            wavetell_map(engine, map);
            in += map == 4 || map == 5 ? 1 : 2;
        }
    for (const int stride : strides) {
        const int kernel = stride * between(1, 3);
        out = between(1, 20);
        const Floats weights = values(size_t(kernel) * in * out, 0.3f), bias = values(out, 0.1f);
        wavetell_stage(engine, in, out, kernel, stride, weights.data(), bias.data());
        in = out;
    }
    for (int level = 0; level < depth; ++level, in = out) {
        out = between(1, 20);
        const Floats first = values(size_t(taps) * in * out, 0.3f), second = values(size_t(taps) * out * out, 0.3f);
        const Floats bias = values(out, 0.1f), residual = values(size_t(in) * out, 0.3f);
        const bool mapped = in != out;
        wavetell_block(engine, in, out, 1 << level, first.data(), bias.data(), second.data(), bias.data(),
                       mapped ? residual.data() : nullptr, mapped ? bias.data() : nullptr);
    }
    wavetell_ready(engine);
    return {engine, hop, int64_t(parts) * out};
}

// The hops of a stream that is pushed in pieces of random length.
Floats cut(const Encoder& made, const Floats& iq) {
    void* stream = wavetell_stream(made.engine);
    Floats found;
    int64_t position = 0;
    const int64_t count = int64_t(iq.size() / 2);
    while (position < count) {
        const int64_t piece = std::min<int64_t>(count - position, between(0, 700));
        const int64_t hops = (position % made.hop + piece) / made.hop;
        Floats room(size_t(hops * made.hop_size));
        const Floats part(iq.begin() + 2 * position, iq.begin() + 2 * (position + piece));
        if (wavetell_push_one(made.engine, stream, part.data(), piece, room.data()) != hops) {
            std::puts("kernel: another number of hops than the samples complete");
            std::exit(1);
        }
        found.insert(found.end(), room.begin(), room.end());
        position += piece;
    }
    wavetell_stream_close(stream);
    return found;
}

}  // namespace
