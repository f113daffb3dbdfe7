// Pushing samples: cutting the work into batches and spreading it over the threads.

#pragma once

#include <atomic>

#include "crew.h"
#include "model.h"

namespace wavetell {

// One stream's part of a push.
struct Work {
    Stream* stream;
    const float* iq;  // [samples][2]
    int64_t samples;
    float* hops;  // [hops that will be completed][parts][reduced]
};

class Engine {
  public:
    Engine(const Isa* isa, Activation activation, int taps, int hop, int parts, int threads);

    Model model;

    void ready();  // all maps, stages and blocks are there
    void push(Work* work, int count);

  private:
    static constexpr double WORTH_WAKING = 5e6;  // multiply-adds; fewer are done before a helper has woken

    Crew crew;
    std::vector<std::unique_ptr<Batch>> batches;
    std::vector<std::unique_ptr<Desk>> desks;
    std::atomic<int64_t> started{0}, finished{0};  // batches that left the first and the second half

    int middle = 0;  // the first convolution of the second half
    void whole(Work* work, int count, Batch& batch, Desk& desk);
    void spread(Work* work, int count);
    void split(Work& work);
    static void fill(Batch& batch, Work*& work, Work* end, int64_t samples);
};

}  // namespace wavetell
