// The kernel's C interface behind stdin and stdout, so that a test can use it on a processor that qemu imitates.
//
//     arm64_side engine      shape, maps, stages, blocks, then pushes -> the hops of each push, at the end every stream's state
//     arm64_side describe    samples -> features
//     arm64_side machine     a kernel matrix -> coefficients
//
// Numbers are int64, arrays float32 or float64, all as they lie in memory.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
int wavetell_supports(const char* isa);
double wavetell_check(const char* isa);
void* wavetell_engine(const char* isa, int activation, int taps, int hop, int parts, int threads);
void wavetell_map(void* engine, int map);
void wavetell_stage(void* engine, int in, int out, int kernel, int stride, const float* taps, const float* bias);
void wavetell_block(void*, int, int, int, const float*, const float*, const float*, const float*, const float*, const float*);
void wavetell_ready(void* engine);
void* wavetell_stream(void* engine);
void wavetell_save(void* stream, uint8_t* state);
int wavetell_push(void* engine, int count, void* const* streams, const int64_t* samples, const float* iq, float* hops);
int64_t wavetell_push_one(void* engine, void* stream, const float* iq, int64_t samples, float* hops);
const void* wavetell_signals(const char* isa);
void wavetell_describe(const void* signals, const float* iq, int64_t samples, float snr_db, float* features);
int wavetell_machine(const double*, const double*, int64_t, double, double, int64_t, double*);
}

namespace {

template <class T>
std::vector<T> read(int64_t count) {
    std::vector<T> values(count);
    if (std::fread(values.data(), sizeof(T), count, stdin) != static_cast<size_t>(count)) std::exit(1);
    return values;
}

int64_t number() { return read<int64_t>(1)[0]; }

template <class T>
void write(const std::vector<T>& values) {
    std::fwrite(values.data(), sizeof(T), values.size(), stdout);
}

void engine() {
    // activation, taps, hop, parts of a hop, threads, reduced, maps, stages, blocks, streams, bytes of a state
    const auto about = read<int64_t>(11);
    const int64_t taps = about[1], hop = about[2], parts = about[3], hop_size = parts * about[5];
    void* const engine = wavetell_engine("neon", about[0], taps, hop, parts, about[4]);
    if (!engine) std::exit(2);
    for (int64_t i = 0; i < about[6]; ++i) wavetell_map(engine, number());
    for (int64_t i = 0; i < about[7]; ++i) {
        const int64_t in = number(), out = number(), kernel = number(), stride = number();
        const auto weights = read<float>(kernel * in * out), bias = read<float>(out);
        wavetell_stage(engine, in, out, kernel, stride, weights.data(), bias.data());
    }
    for (int64_t i = 0; i < about[8]; ++i) {
        const int64_t in = number(), out = number(), dilation = number(), widens = number();
        const auto taps1 = read<float>(taps * in * out), bias1 = read<float>(out);
        const auto taps2 = read<float>(taps * out * out), bias2 = read<float>(out);
        const auto residual = read<float>(widens * in * out), bias3 = read<float>(widens * out);
        wavetell_block(engine, in, out, dilation, taps1.data(), bias1.data(), taps2.data(), bias2.data(),
                       widens ? residual.data() : nullptr, widens ? bias3.data() : nullptr);
    }
    wavetell_ready(engine);
    std::vector<void*> streams;
    std::vector<int64_t> seen(about[9]);
    for (int64_t i = 0; i < about[9]; ++i) streams.push_back(wavetell_stream(engine));
    for (int64_t together; (together = number()) > 0;) {
        std::vector<void*> to;
        std::vector<int64_t> samples;
        std::vector<float> iq;
        int64_t completed = 0;
        for (int64_t i = 0; i < together; ++i) {
            const int64_t stream = number(), count = number();
            const auto part = read<float>(2 * count);
            completed += (seen[stream] % hop + count) / hop;
            seen[stream] += count;
            to.push_back(streams[stream]);
            samples.push_back(count);
            iq.insert(iq.end(), part.begin(), part.end());
        }
        std::vector<float> hops(completed * hop_size);
        if (together == 1)
            wavetell_push_one(engine, to[0], iq.data(), samples[0], hops.data());
        else if (wavetell_push(engine, int(together), to.data(), samples.data(), iq.data(), hops.data()) >= 0)
            std::exit(3);
        write(hops);
    }
    for (void* stream : streams) {
        std::vector<uint8_t> state(about[10]);
        wavetell_save(stream, state.data());
        write(state);
    }
}

void describe() {
    const int64_t samples = number(), features = number();
    const float snr_db = read<float>(1)[0];
    const auto iq = read<float>(2 * samples);
    std::vector<float> out(features);
    wavetell_describe(wavetell_signals("portable"), iq.data(), samples, snr_db, out.data());
    write(out);
}

void machine() {
    const int64_t n = number(), steps = number();
    const double C = read<double>(1)[0];
    const auto gram = read<double>(n * n), y = read<double>(n);
    std::vector<double> out(n + 1);
    if (!wavetell_machine(gram.data(), y.data(), n, C, 1e-3, steps, out.data())) std::exit(4);
    write(out);
}

}  // namespace

int main(int count, char** words) {
    if (count == 2 && !std::strcmp(words[1], "engine")) engine();
    else if (count == 2 && !std::strcmp(words[1], "describe")) describe();
    else if (count == 2 && !std::strcmp(words[1], "machine")) machine();
    else return 64;
    return 0;
}
