// One batch through a run of convolutions: gather panels, multiply, finish.
//
//     h = act(conv(x)),   y = act(conv(h)) + r(x)
//
// Every instruction set includes this file and compiles its own copy, with Rows = the elements its rings hold.

#pragma once

#include <cstring>

#include "activation.h"

namespace wavetell {
namespace {

typedef double Double8 __attribute__((vector_size(64)));
typedef uint32_t Cell8 __attribute__((vector_size(32)));
typedef uint16_t Short8 __attribute__((vector_size(16)));

template <class T>
inline T load(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
inline void store(void* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

struct Float32 {
    using Group = Float8;
    static Group from(Float8 x) { return x; }
};

struct BFloat16 {
    using Group = Short8;
    static Group from(Float8 x) {  // round to nearest, ties to even
        const Cell8 bits = (Cell8)x;
        return __builtin_convertvector((bits + 0x7fff + ((bits >> 16) & 1)) >> 16, Short8);
    }
};

template <class Element>
class Stage {
    using Group = typename Element::Group;  // eight elements of a ring
    static constexpr long BYTES = sizeof(Group) / GROUP;

  public:
    Stage(const Model& model, Batch& batch, Desk& desk)
        : model(model), batch(batch), panel(reinterpret_cast<uint8_t*>(desk.panel.data())), tile(desk.tile.data()),
          zeros(desk.zeros.data()) {}

    void run(int first, int last) {
        find_slots(model.convs[first], 0);
        if (first == 0) take_samples();
        for (int index = first; index < last; ++index) {
            const bool is_last = index + 1 == int(model.convs.size());
            if (!is_last) find_slots(model.convs[index + 1], 1);
            convolve(model.convs[index], is_last ? nullptr : &model.convs[index + 1], index ? &model.convs[index - 1] : nullptr);
            std::memcpy(batch.slot[0], batch.slot[1], batch.rows * sizeof(long));
        }
    }

  private:
    const Model& model;
    Batch& batch;
    uint8_t* panel;
    float* tile;
    const uint8_t* zeros;

    // Which row of the convolution's ring belongs to each row of the batch.
    void find_slots(const Conv& conv, int which) {
        long* slot = batch.slot[which];
        for (int row = 0; row < batch.rows; ++row)
            if (row && batch.stream[row] == batch.stream[row - 1])
                slot[row] = slot[row - 1] + 1 == conv.ring_rows ? 0 : slot[row - 1] + 1;
            else
                slot[row] = batch.time[row] % conv.ring_rows;
    }

    uint8_t* ring(const Conv& conv, int row, long slot) {
        return batch.stream[row]->rings.data() + conv.ring_offset + slot * conv.ring_stride * BYTES;
    }

    void take_samples() {
        for (int row = 0; row < batch.rows; ++row) {
            const Float8 x = {batch.iq[row][0], batch.iq[row][1]};
            store(batch.x.data() + row * batch.x_stride, x);
            store(ring(model.convs[0], row, batch.slot[0][row]), Element::from(x));
        }
    }

    void convolve(const Conv& conv, const Conv* next, const Conv* previous) {
        // Blocks of nearly equal height: a last block of few rows would leave the multipliers idle.
        const int most = model.isa->block(conv.taps.width), blocks = (batch.rows + most - 1) / most;
        for (int block = 0; block < blocks; ++block) {
            const int first = batch.rows * block / blocks, rows = batch.rows * (block + 1) / blocks - first;
            for (int row = 0; row < rows; ++row) gather(conv, previous, first + row, panel + row * model.panel_stride * 4);
            for (int index = 0; index < conv.taps.panels; ++index) {
                const Matrix &taps = conv.taps, &residual = conv.residual;
                multiply(conv, taps, index, taps.bias.data() + index * taps.width, 0, rows, 0);
                switch (model.activation) {
                    case Activation::leaky_relu: activate_tile<Activation::leaky_relu>(conv, index, rows); break;
                    case Activation::relu: activate_tile<Activation::relu>(conv, index, rows); break;
                    case Activation::softplus: activate_tile<Activation::softplus>(conv, index, rows); break;
                }
                if (residual.depth) multiply(conv, residual, index, tile, residual.width, rows, taps.depth);
                for (int row = 0; row < rows; ++row) finish(conv, next, index, first + row, tile + row * taps.width);
            }
        }
    }

    // Lay side by side what the taps see, the oldest first, and then what a residual matrix sees.
    // Groups run over the end of a tap; the next one overwrites that, and after the last one no weight meets it.
    void gather(const Conv& conv, const Conv* previous, int row, uint8_t* to) {
        for (long shift = conv.history; shift >= 0; shift -= conv.dilation, to += conv.in * BYTES) {
            const long slot = batch.slot[0][row] - shift;
            const bool before = batch.time[row] < shift;
            copy(conv.in, to, before ? zeros : ring(conv, row, slot < 0 ? slot + conv.ring_rows : slot));
            if (!shift && conv.residual.depth) {
                uint8_t* after = to - (model.taps - 1) * conv.in * BYTES + conv.taps.depth * 4;
                copy(previous->in, after, ring(*previous, row, batch.time[row] % previous->ring_rows));
            }
        }
    }

    static void copy(int count, uint8_t* to, const uint8_t* from) {
        for (int c = 0; c < count; c += GROUP) store(to + c * BYTES, load<Group>(from + c * BYTES));
    }

    void multiply(const Conv& conv, const Matrix& matrix, int index, const float* start, long start_stride, int rows,
                  long offset) {
        conv.multiply(rows, start, start_stride, tile, reinterpret_cast<uint32_t*>(panel) + offset, model.panel_stride,
                      matrix.panel(index), matrix.depth);
    }

    template <Activation kind>
    void activate_tile(const Conv& conv, int index, int rows) {
        const int width = conv.taps.width;
        const float* bias = conv.residual.bias.data() + index * width;
        for (float* at = tile; at < tile + rows * width; at += GROUP) {
            Float8 x = activate<kind>(load<Float8>(at));
            if (conv.residual.depth) x += load<Float8>(bias + (at - tile) % width);
            store(at, x);
        }
    }

    // Add the residual, and hand the row on: to the next convolution's ring, or to the hop.
    void finish(const Conv& conv, const Conv* next, int index, int row, const float* values) {
        const int width = conv.taps.width, column = index * width;
        const int count = int(padded(conv.out, GROUP)) - column < width ? int(padded(conv.out, GROUP)) - column : width;
        float* x = batch.x.data() + row * batch.x_stride + column;
        uint8_t* to = next ? ring(*next, row, batch.slot[1][row]) + column * BYTES : nullptr;
        for (int c = 0; c < count; c += GROUP) {
            Float8 y = load<Float8>(values + c);
            if (conv.ends_block) {
                if (!conv.residual.depth) y += load<Float8>(x + c);
                store(x + c, y);
            }
            if (next)
                store(to + c * BYTES, Element::from(y));
            else
                pool(row, column + c, y);
        }
    }

    void pool(int row, int column, Float8 y) {
        Stream& stream = *batch.stream[row];
        float* maximum = stream.maximum.data() + column;
        double* total = stream.total.data() + column;
        const Float8 before = load<Float8>(maximum), larger = y > before ? y : before;
        const Double8 sum = load<Double8>(total) + __builtin_convertvector(y, Double8);
        if (!batch.maximum[row]) {
            store(maximum, larger);
            store(total, sum);
            return;
        }
        const Float8 rounded = __builtin_convertvector(sum, Float8);
        const long left = model.reduced - column, count = left < GROUP ? left : GROUP;
        std::memcpy(batch.maximum[row] + column, &larger, count * sizeof(float));
        std::memcpy(batch.total[row] + column, &rounded, count * sizeof(float));
        store(maximum, Float8{} - __builtin_inff());
        store(total, Double8{});
    }
};

}  // namespace
}  // namespace wavetell
