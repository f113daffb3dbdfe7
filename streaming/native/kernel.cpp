// The plain C interface that Python loads with ctypes (see python.cpp for the one exception), and the self-check that it runs in a child process first.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>

#include "engine.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace wavetell;

namespace {

const Isa* find(const std::string& name) {
    for (const Isa* isa : {portable, neon, avx2, avx512, avx512bf16, amx, amx_emulated})
        if (isa && name == isa->name) return isa;
    return nullptr;
}

#if defined(__x86_64__)
bool permits_amx() {
#if defined(__linux__)
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line) && line.rfind("flags", 0)) {
    }
    if (line.find(" amx_tile") == std::string::npos || line.find(" amx_bf16") == std::string::npos) return false;
    uint32_t low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    const uint32_t tile_state = 3u << 17;
    const int arch_req_xcomp_perm = 0x1023, tile_data = 18;
    return (low & tile_state) == tile_state && syscall(SYS_arch_prctl, arch_req_xcomp_perm, tile_data) == 0;
#else
    return false;
#endif
}

bool supports(const std::string& name) {
    __builtin_cpu_init();
    const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    if (name == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (name == "avx512") return has_avx512;
    if (name == "avx512bf16") return has_avx512 && __builtin_cpu_supports("avx512bf16");
    if (name == "amx") return has_avx512 && permits_amx();
    return true;
}
#else
bool supports(const std::string&) { return true; }
#endif

struct Random {  // the same numbers on every machine
    uint64_t state = 1;
    float operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return float(int32_t(state >> 32)) * 0x1p-31f;
    }
    std::vector<float> operator()(long count, float scale) {
        std::vector<float> values(count);
        for (float& value : values) value = scale * (*this)();
        return values;
    }
};

// The hops of a small random encoder that has every map and every kind of convolution.
std::vector<float> trial(const Isa* isa) {
    const int taps = 3, hop = 16, parts = 3, samples = 320, widths[] = {24, 40, 40, 160};
    Engine engine(isa, Activation::leaky_relu, taps, hop, parts, 1);
    Model& model = engine.model;
    for (int map = 0; map <= int(Map::delay16); ++map) model.add_map(Map(map));
    Random random;
    const auto stage = random(4L * model.channels * widths[0], std::pow(4 * model.channels, -0.5f)), bias = random(widths[0], 0.1f);
    model.add_stage(model.channels, widths[0], 4, 2, stage.data(), bias.data());
    for (int i = 0; i < 3; ++i) {
        const int in = widths[i], out = widths[i + 1];
        const auto taps1 = random(long(taps) * in * out, std::pow(taps * in, -0.5f)), bias1 = random(out, 0.1f);
        const auto taps2 = random(long(taps) * out * out, std::pow(taps * out, -0.5f)), bias2 = random(out, 0.1f);
        const auto residual = random(long(in) * out, std::pow(in, -0.5f)), bias3 = random(out, 0.1f);
        model.add_block(in, out, 1 << i, taps1.data(), bias1.data(), taps2.data(), bias2.data(),
                        in == out ? nullptr : residual.data(), bias3.data());
    }
    engine.ready();
    Stream stream(model);
    const auto iq = random(2 * samples, 1.0f);
    std::vector<float> hops(samples / hop * model.hop_size());
    Work work{&stream, iq.data(), samples, hops.data()};
    engine.push(&work, 1);
    return hops;
}

bool all_finite(const Work& work) {
    float sum = 0;  // a NaN or an infinity times zero is a NaN, and stays one
    for (int64_t i = 0; i < 2 * work.samples; ++i) sum += work.iq[i] * 0.0f;
    return sum == 0;
}

}  // namespace

extern "C" {

// Whether the instruction set is compiled in and this processor and its operating system advertise it.
int wavetell_supports(const char* isa) { return find(isa) && supports(isa); }

// The largest error of the instruction set against the portable path, relative to the largest value.
double wavetell_check(const char* isa) {
    const auto found = trial(find(isa)), expected = trial(portable);
    double error = 0, largest = 0;
    for (size_t i = 0; i < found.size(); ++i) {
        if (!std::isfinite(found[i])) return INFINITY;
        error = std::max(error, double(std::fabs(found[i] - expected[i])));
        largest = std::max(largest, double(std::fabs(expected[i])));
    }
    return error / largest;
}

// nullptr where the processor or its operating system does not permit the instruction set; tiles are asked for here.
void* wavetell_engine(const char* isa, int activation, int taps, int hop, int parts, int threads) {
    if (!wavetell_supports(isa)) return nullptr;
    return new Engine(find(isa), Activation(activation), taps, hop, parts, threads);
}

void wavetell_map(void* engine, int map) { static_cast<Engine*>(engine)->model.add_map(Map(map)); }

void wavetell_stage(void* engine, int in, int out, int kernel, int stride, const float* taps, const float* bias) {
    static_cast<Engine*>(engine)->model.add_stage(in, out, kernel, stride, taps, bias);
}

void wavetell_block(void* engine, int in, int out, int dilation, const float* taps1, const float* bias1,
                    const float* taps2, const float* bias2, const float* residual, const float* residual_bias) {
    static_cast<Engine*>(engine)->model.add_block(in, out, dilation, taps1, bias1, taps2, bias2, residual, residual_bias);
}

void wavetell_ready(void* engine) { static_cast<Engine*>(engine)->ready(); }

void wavetell_engine_close(void* engine) { delete static_cast<Engine*>(engine); }

void* wavetell_stream(void* engine) { return new Stream(static_cast<Engine*>(engine)->model); }

void wavetell_stream_close(void* stream) { delete static_cast<Stream*>(stream); }

void wavetell_reset(void* stream) { static_cast<Stream*>(stream)->reset(); }

void wavetell_save(void* stream, uint8_t* state) { static_cast<Stream*>(stream)->save(state); }

void wavetell_restore(void* stream, int64_t position, const uint8_t* state) {
    static_cast<Stream*>(stream)->restore(position, state);
}

// The samples of each stream lie one behind the other, and so will their hops. Returns -1, or the index of the first
// stream whose samples are not all finite; then nothing was changed.
int wavetell_push(void* engine, int count, Stream* const* streams, const int64_t* samples, const float* iq, float* hops) {
    std::vector<Work> work;
    work.reserve(count);
    for (int index = 0; index < count; ++index) {
        work.push_back({streams[index], iq, samples[index], hops});
        if (!all_finite(work.back())) return index;
        iq += 2 * samples[index];
        hops += streams[index]->completes(samples[index]) * streams[index]->model.hop_size();
    }
    static_cast<Engine*>(engine)->push(work.data(), count);
    return -1;
}

// The same for one stream, with few arguments since each takes Python's time: returns how many hops were completed,
// or -1.
int64_t wavetell_push_one(void* engine, void* stream, const float* iq, int64_t samples, float* hops) {
    Stream* to = static_cast<Stream*>(stream);
    const int64_t count = to->completes(samples);
    Work work{to, iq, samples, hops};
    if (!all_finite(work)) return -1;
    static_cast<Engine*>(engine)->push(&work, 1);
    return count;
}

}  // extern "C"
