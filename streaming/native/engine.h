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
    float *maximum, *total;  // [hops that will be completed][reduced]
};

class Engine {
  public:
    Engine(const Isa* isa, Activation activation, int taps, int hop, int threads);

    Model model;

    void ready();  // all blocks are there
    void push(Work* work, int count);

  private:
    static constexpr int DEPTH = 4;              // batches between the two halves of a split stream
    static constexpr int SPLIT = ROWS / DEPTH;   // rows of such a batch: the rings hold all that are under way
    static constexpr int64_t WORTH_WAKING = 24;  // fewer samples are done before a helper has woken

    Crew crew;
    std::vector<std::unique_ptr<Batch>> batches;
    std::vector<std::unique_ptr<Desk>> desks;
    std::atomic<int64_t> started{0}, finished{0};  // batches that left the first and the second half

    int middle() const { return int(model.convs.size()) - 2; }  // the last block costs as much as all before it
    void whole(Work* work, int count, Batch& batch, Desk& desk);
    void spread(Work* work, int count);
    void split(Work& work);
    static void fill(Batch& batch, Work*& work, Work* end, int64_t rows);
};

}  // namespace wavetell
