// The threads of an engine: the caller and `threads - 1` helpers that sleep between jobs.

#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace wavetell {

class Crew {
  public:
    using Job = void (*)(void* context, int index);

    explicit Crew(int threads) {
        for (int index = 1; index < threads; ++index) helpers.emplace_back([this, index] { help(index); });
    }

    ~Crew() {
        {
            std::lock_guard<std::mutex> guard(mutex);
            stopping = true;
        }
        wake.notify_all();
        for (std::thread& helper : helpers) helper.join();
    }

    int size() const { return int(helpers.size()) + 1; }

    // Run job(context, 0..count-1), one index a thread, and return when all are done; count <= size().
    void run(int count, Job job, void* context) {
        {
            std::lock_guard<std::mutex> guard(mutex);
            this->job = job, this->context = context, this->count = count;
            busy = count - 1;
            ++round;
        }
        if (count > 1) wake.notify_all();
        job(context, 0);
        std::unique_lock<std::mutex> guard(mutex);
        done.wait(guard, [this] { return busy == 0; });
    }

  private:
    std::mutex mutex;
    std::condition_variable wake, done;
    Job job = nullptr;
    void* context = nullptr;
    int count = 0, busy = 0;
    long round = 0;
    bool stopping = false;
    std::vector<std::thread> helpers;

    void help(int index) {
        long seen = 0;
        std::unique_lock<std::mutex> guard(mutex);
        while (true) {
            wake.wait(guard, [&] { return stopping || round != seen; });
            if (stopping) return;
            seen = round;
            if (index >= count) continue;
            guard.unlock();
            job(context, index);
            guard.lock();
            if (--busy == 0) done.notify_one();
        }
    }
};

}  // namespace wavetell
