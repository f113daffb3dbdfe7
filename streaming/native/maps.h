// Input maps, as streaming/maps.py has them: planes of eight samples at a time. With a = |x|, u = x / a, z = x / sqrt(a),
//
//     x,   u,   x u,   x u^3,   a,   log(|x|^2 + 0.001) / 2,   u[n] conj(u[n-1]),   z[n] conj(z[n-L])
//
// Every instruction set includes this file and compiles its own copy.

#pragma once

#include "activation.h"

namespace wavetell {
namespace {

constexpr float SMALLEST = 1e-12f, QUIETEST = 1e-3f;  // powers: a division stays finite; where the level ends

// log(x) for normal x > 0: x = 2^n m with m between sqrt(1/2) and sqrt(2).
inline Float8 logarithm(Float8 x) {
    const Whole8 power = ((Whole8)x - 0x3f3504f3) >> 23;
    const Float8 n = __builtin_convertvector(power, Float8), m = (Float8)((Whole8)x - (power << 23));
    return n * 0.693359375f + (n * -2.12194440e-4f + log1p(m - 1.0f));  // ln 2 in two parts, the first one exact
}

// A complex series as two planes.
struct Series {
    float *re, *im;

    Series at(long i) const { return {re + i, im + i}; }
};

struct Complex8 {
    Float8 re, im;

    explicit Complex8(const Series& from) : re(load<Float8>(from.re)), im(load<Float8>(from.im)) {}
    Complex8(Float8 re, Float8 im) : re(re), im(im) {}

    Complex8 times(const Complex8& b) const { return {re * b.re - im * b.im, im * b.re + re * b.im}; }
    Complex8 times_conjugate(const Complex8& b) const { return {re * b.re + im * b.im, im * b.re - re * b.im}; }
    void put(const Series& to) const { store(to.re, re), store(to.im, im); }
};

// The planes of a desk: of what the maps are made of, LAG samples before the first one included, then one for each channel.
class Planes {
  public:
    static constexpr long LENGTH = LAG + SPAN;

    explicit Planes(float* memory)
        : pairs(memory),
          x(series(2)),
          u(series(4)),
          z(series(6)),
          power(plane(8)),
          amplitude(plane(9)),
          channels(plane(10)) {}

    // The maps of up to SPAN samples, [channel][LAG + SPAN]; `past` has the LAG samples before them, and then those of the next call.
    __attribute__((noinline)) const float* expand(const Model& model, float* past, const float* iq, long count) {
        std::memcpy(pairs, past, 2 * LAG * sizeof(float));
        std::memcpy(pairs + 2 * LAG, iq, 2 * count * sizeof(float));
        std::memcpy(past, pairs + 2 * count, 2 * LAG * sizeof(float));
        for (long i = LAG - padded(model.lag, GROUP); i < LAG + count; i += GROUP) prepare(i);
        float* to = channels;
        for (const Map map : model.maps) to = fill(map, to, count);
        return channels;
    }

  private:
    float* const pairs;
    const Series x, u, z;
    float *const power, *const amplitude, *const channels;

    float* plane(int index) const { return pairs + index * LENGTH; }
    Series series(int index) const { return {plane(index), plane(index + 1)}; }

    void prepare(long i) {
        Float8 re, im;
        part(pairs + 2 * i, re, im);
        const Float8 square = re * re + im * im, size = root(square + SMALLEST);
        const Float8 over = 1.0f / size, under = 1.0f / root(size);
        Complex8(re, im).put(x.at(i));
        Complex8(re * over, im * over).put(u.at(i));
        Complex8(re * under, im * under).put(z.at(i));
        store(power + i, square);
        store(amplitude + i, size);
    }

    // One map's channels, and where the next one's begin.
    float* fill(Map map, float* to, long count) {
        switch (map) {
            case Map::iq: return pair(to, count, [this](long i) { return Complex8(x.at(i)); });
            case Map::phase: return pair(to, count, [this](long i) { return Complex8(u.at(i)); });
            case Map::square: return pair(to, count, [this](long i) { return Complex8(x.at(i)).times(Complex8(u.at(i))); });
            case Map::fourth:
                return pair(to, count, [this](long i) {
                    const Complex8 phasor(u.at(i));
                    return Complex8(x.at(i)).times(phasor).times(phasor).times(phasor);
                });
            case Map::amplitude: return single(to, count, [this](long i) { return load<Float8>(amplitude + i); });
            case Map::level:
                return single(to, count, [this](long i) { return logarithm(load<Float8>(power + i) + QUIETEST) * 0.5f; });
            case Map::increment: return delayed(to, count, u, 1);
            case Map::delay1: return delayed(to, count, z, 1);
            case Map::delay2: return delayed(to, count, z, 2);
            case Map::delay4: return delayed(to, count, z, 4);
            case Map::delay8: return delayed(to, count, z, 8);
            case Map::delay16: return delayed(to, count, z, 16);
        }
        return to;
    }

    float* delayed(float* to, long count, const Series& of, long lag) {
        return pair(to, count, [=](long i) { return Complex8(of.at(i)).times_conjugate(Complex8(of.at(i - lag))); });
    }

    template <class Function>
    static float* pair(float* to, long count, Function function) {
        const Series out{to, to + LENGTH};
        for (long i = 0; i < count; i += GROUP) function(LAG + i).put(out.at(i));
        return to + 2 * LENGTH;
    }

    template <class Function>
    static float* single(float* to, long count, Function function) {
        for (long i = 0; i < count; i += GROUP) store(to + i, function(LAG + i));
        return to + LENGTH;
    }
};

}  // namespace
}  // namespace wavetell
