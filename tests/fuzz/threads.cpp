// The kernel as the service's threads use it, for the thread sanitizer: threads SEED SECONDS. One thread pushes two
// streams through an engine with helpers; meanwhile others open, push, reset and close streams of an engine that is
// replaced again and again, open and close streams of the first one, and compute features.

#include <atomic>
#include <thread>

#include "driver.h"

extern "C" {
int wavetell_push(void* engine, int count, void* const* streams, const int64_t* samples, const float* iq, float* hops);
}

namespace {

constexpr int PIECE = 40'000;  // samples of a stream in one push: enough work to wake the helpers
std::atomic<bool> over{false};
std::atomic<long> pushes{0}, swaps{0}, visits{0};

void push_two(const Encoder& made) {
    void* const streams[] = {wavetell_stream(made.engine), wavetell_stream(made.engine)};
    const Floats iq = samples(2 * PIECE, false);
    const int64_t counts[] = {PIECE, PIECE};
    Floats room(2 * size_t((PIECE / made.hop + 1) * made.hop_size));
    while (!over) {
        if (!wavetell_push(made.engine, 2, streams, counts, iq.data(), room.data())) std::abort();
        ++pushes;
    }
    for (void* stream : streams) wavetell_stream_close(stream);
}

void swap(const char* isa) {
    while (!over) {
        const Encoder made = encoder(isa, 2);
        cut(made, samples(5'000, false));
        wavetell_engine_close(made.engine);
        ++swaps;
    }
}

void visit(const Encoder& made, const char* isa) {
    const void* signals = wavetell_signals(isa);
    while (!over) {
        void* stream = wavetell_stream(made.engine);
        wavetell_reset(stream);
        wavetell_stream_close(stream);
        Floats features(4096);
        if (signals) wavetell_describe(signals, samples(2'000, true).data(), 2'000, 10, features.data());
        ++visits;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    chance.seed(std::strtoull(argv[1], nullptr, 10));
    const char* isa = wavetell_supports("avx2") ? "avx2" : "portable";
    const Encoder made = encoder(isa, 3);
    std::vector<std::thread> threads;
    const auto seeded = [seed = chance()](auto act) { return [=] { chance.seed(seed), act(); }; };
    threads.emplace_back(seeded([&] { push_two(made); }));
    threads.emplace_back(seeded([&] { swap(isa); }));
    threads.emplace_back(seeded([&] { visit(made, isa); }));
    std::this_thread::sleep_for(std::chrono::seconds(std::atoll(argv[2])));
    over = true;
    for (std::thread& thread : threads) thread.join();
    wavetell_engine_close(made.engine);
    std::printf("threads: %ld pushes, %ld engines, %ld visits held\n", pushes.load(), swaps.load(), visits.load());
    return pushes && swaps && visits ? 0 : 1;
}
