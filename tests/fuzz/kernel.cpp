// Drives the kernel through its C interface with random shapes, cuts, resets, saved states and hostile samples, for
// so many seconds: kernel SEED SECONDS. Built with sanitizers, so that what it must not do ends it. Results of two
// cuts of one stream are compared bit by bit.

#include "driver.h"

namespace {

void try_encoder(const char* isa) {
    const Encoder made = encoder(isa, between(1, 2));
    const Floats iq = samples(between(0, 2000), false);
    const Floats one = cut(made, iq), other = cut(made, iq);
    if (one.size() != other.size() || (!one.empty() && std::memcmp(one.data(), other.data(), 4 * one.size()))) {
        std::puts("kernel: two cuts of one stream differ");
        std::exit(1);
    }
    void* stream = wavetell_stream(made.engine);
    for (int pushes = between(0, 4); pushes; --pushes) {
        const int count = between(0, 300);
        const Floats hostile = samples(count, true);
        Floats room(size_t((count / made.hop + 1) * made.hop_size));
        wavetell_push_one(made.engine, stream, hostile.data(), count, room.data());
        if (between(0, 3) == 0) wavetell_reset(stream);
    }
    wavetell_stream_close(stream);
    wavetell_engine_close(made.engine);
}

void try_features(const char* isa) {
    const void* signals = wavetell_signals(isa);
    if (!signals || !wavetell_supports(isa)) return;
    const int count = between(1, 5000);
    const Floats iq = samples(count, between(0, 1));
    Floats features(4096);
    wavetell_describe(signals, iq.data(), count, values(1, 30)[0], features.data());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    chance.seed(std::strtoull(argv[1], nullptr, 10));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoll(argv[2]));
    long rounds = 0;
    do {
        for (const char* isa : {"portable", "avx2", "avx512"}) {
            if (wavetell_supports(isa)) try_encoder(isa);
            try_features(isa);
        }
        ++rounds;
    } while (std::chrono::steady_clock::now() < end);
    std::printf("kernel: %ld inputs held\n", rounds);
}
