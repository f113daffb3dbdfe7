#include "engine.h"

#include <algorithm>

namespace wavetell {

namespace {

void wait_until(const std::atomic<int64_t>& counter, int64_t value) {
    for (int spins = 0; counter.load(std::memory_order_acquire) < value; ++spins)
        if (spins > 1000) std::this_thread::yield();
}

int64_t samples(const Work* work, const Work* end) {
    int64_t sum = 0;
    for (; work < end; ++work) sum += work->samples;
    return sum;
}

}  // namespace

Engine::Engine(const Isa* isa, Activation activation, int taps, int hop, int parts, int threads) : crew(threads) {
    model.isa = isa, model.activation = activation, model.taps = taps, model.hop = hop, model.parts = parts;
}

void Engine::ready() {
    model.lay_out();
    double before = 0;
    while (before + model.convs[middle].cost / 2 < model.cost() / 2) before += model.convs[middle++].cost;
    for (int i = 0; i < std::max(crew.size(), crew.size() > 1 ? DEPTH : 1); ++i)
        batches.push_back(std::make_unique<Batch>(model));
    for (int i = 0; i < crew.size(); ++i) desks.push_back(std::make_unique<Desk>(model));
}

void Engine::push(Work* work, int count) {
    if (crew.size() == 1 || double(samples(work, work + count)) * model.cost() < WORTH_WAKING)
        whole(work, count, *batches[0], *desks[0]);
    else if (count > 1)
        spread(work, count);
    else
        split(*work);
}

// Fill a batch with the next samples of the work, which is used up as it goes.
void Engine::fill(Batch& batch, Work*& work, Work* end, int64_t samples) {
    batch.parts.clear();
    while (work < end && samples) {
        Stream& stream = *work->stream;
        const int64_t count = std::min(work->samples, samples);
        batch.parts.push_back({&stream, work->iq, work->hops, stream.position, count});
        work->hops += stream.completes(count) * stream.model.hop_size();
        stream.position += count, samples -= count;
        work->samples -= count, work->iq += 2 * count;
        if (!work->samples) ++work;
    }
}

// All on one thread, in batches of nearly equal size.
void Engine::whole(Work* work, int count, Batch& batch, Desk& desk) {
    Work* end = work + count;
    const int64_t sum = samples(work, end), parts = (sum + model.batch - 1) / model.batch;
    for (int64_t part = 0; part < parts; ++part) {
        fill(batch, work, end, sum * (part + 1) / parts - sum * part / parts);
        model.isa->run(model, batch, desk, 0, int(model.convs.size()));
    }
}

// Many streams: each thread takes neighbours with about as many samples as the others.
void Engine::spread(Work* work, int count) {
    struct Shares {
        Engine* engine;
        Work* work;
        std::vector<int> ends;
    } shares{this, work, {0}};
    const int parts = std::min(crew.size(), count);
    const int64_t sum = samples(work, work + count);
    int64_t taken = 0;
    for (int part = 1, end = 0; part <= parts; ++part) {
        const int most = count - (parts - part);  // leave one for each thread to come
        do taken += work[end++].samples;
        while (end < most && taken + work[end].samples / 2 <= sum * part / parts);
        if (part == parts) end = count;
        shares.ends.push_back(end);
    }
    crew.run(parts, [](void* context, int index) {
        Shares& shares = *static_cast<Shares*>(context);
        const int first = shares.ends[index];
        shares.engine->whole(shares.work + first, shares.ends[index + 1] - first, *shares.engine->batches[index],
                             *shares.engine->desks[index]);
    }, &shares);
}

// One stream: a thread runs the first half of the convolutions, another one the second half, a few batches behind.
void Engine::split(Work& work) {
    const int64_t most = model.batch / DEPTH;  // samples of a batch: the rings hold all that are under way
    struct Halves {
        Engine* engine;
        Work* work;
        int64_t sum, parts;
    } halves{this, &work, work.samples, std::max<int64_t>(4, (work.samples + most - 1) / most)};
    started = finished = 0;
    crew.run(2, [](void* context, int index) {
        Halves& halves = *static_cast<Halves*>(context);
        Engine& engine = *halves.engine;
        const Model& model = engine.model;
        Work* work = halves.work;
        for (int64_t part = 0; part < halves.parts; ++part) {
            Batch& batch = *engine.batches[part % DEPTH];
            if (index == 0) {
                wait_until(engine.finished, part - DEPTH + 1);
                const int64_t samples = halves.sum * (part + 1) / halves.parts - halves.sum * part / halves.parts;
                fill(batch, work, halves.work + 1, samples);
                model.isa->run(model, batch, *engine.desks[0], 0, engine.middle);
                engine.started.store(part + 1, std::memory_order_release);
            } else {
                wait_until(engine.started, part + 1);
                model.isa->run(model, batch, *engine.desks[1], engine.middle, int(model.convs.size()));
                engine.finished.store(part + 1, std::memory_order_release);
            }
        }
    }, &halves);
}

}  // namespace wavetell
