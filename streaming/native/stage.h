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
typedef uint32_t Line __attribute__((vector_size(64)));
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

template <class Element, Activation ACTIVATION>
class Stage {
    using Group = typename Element::Group;  // eight elements of a ring
    static constexpr long BYTES = sizeof(Group) / GROUP;

  public:
    Stage(const Model& model, Batch& batch, Desk& desk)
        : model(model), batch(batch), panel(desk.panel.data()), tile(desk.tile.data()), zeros(desk.zeros.data()) {}

    void run(int first, int last) {
        const int count = int(model.convs.size());
        find_slots(model.convs[first], 0);
        if (first == 0) take_samples();
        for (int index = first; index < last; ++index) {
            if (index + 1 < count) find_slots(model.convs[index + 1], 1);
            convolve(index);
            std::memcpy(batch.slot[0], batch.slot[1], batch.rows * sizeof(long));
        }
    }

  private:
    const Model& model;
    Batch& batch;
    uint32_t* const panel;
    float* const tile;
    const uint8_t* const zeros;

    // Which row of the convolution's ring belongs to each row of the batch.
    void find_slots(const Conv& conv, int which) {
        long* slot = batch.slot[which];
        for (int row = 0; row < batch.rows; ++row)
            if (row && batch.stream[row] == batch.stream[row - 1])
                slot[row] = slot[row - 1] + 1 == conv.ring_rows ? 0 : slot[row - 1] + 1;
            else
                slot[row] = batch.time[row] % conv.ring_rows;
    }

    uint8_t* ring(const Conv& conv, int row) { return batch.stream[row]->rings.data() + conv.ring_offset; }

    void take_samples() {
        const Conv& conv = model.convs[0];
        for (int row = 0; row < batch.rows; ++row) {
            const Float8 x = {batch.iq[row][0], batch.iq[row][1]};
            store(batch.x.data() + row * batch.x_stride, x);
            store(ring(conv, row) + batch.slot[0][row] * conv.ring_stride * BYTES, Element::from(x));
        }
    }

    void convolve(int index) {
        const Conv& conv = model.convs[index];
        const auto& [taps, residual] = conv.weights(batch.rows);
        // Blocks of nearly equal height: a last block of few rows would leave the multipliers idle.
        const int most = model.isa->block(taps.width), blocks = (batch.rows + most - 1) / most;
        for (int block = 0; block < blocks; ++block) {
            const int first = batch.rows * block / blocks, rows = batch.rows * (block + 1) / blocks - first;
            gather(conv, first, rows);
            if (residual.depth) gather_residual(model.convs[index - 1], first, rows, taps.depth);
            for (int part = 0; part < taps.panels; ++part) {
                multiply(taps, part, taps.bias.data() + part * taps.width, 0, rows, 0);
                if (residual.depth) {
                    activate_tile(residual.bias.data() + part * taps.width, taps.width, rows);
                    multiply(residual, part, tile, residual.width, rows, taps.depth);
                }
                finish(index, part, taps.width, first, rows);
            }
            if (index + 1 < int(model.convs.size())) call_up(model.convs[index + 1], first, rows);
        }
    }

    // Lay side by side what the taps of each row see, the oldest first. A copy runs over the end of its tap;
    // the next tap overwrites that, and after the last one no weight meets it.
    void gather(const Conv& conv, int first, int rows) {
        const long in = conv.in, history = conv.history, dilation = conv.dilation, turn = conv.ring_rows;
        const long stride = conv.ring_stride * BYTES, panel_stride = model.panel_stride * 4;
        uint8_t* to_row = reinterpret_cast<uint8_t*>(panel);
        for (int row = first; row < first + rows; ++row, to_row += panel_stride) {
            const uint8_t* const from_ring = ring(conv, row);
            const int64_t time = batch.time[row];
            long slot = batch.slot[0][row] - history;
            uint8_t* to = to_row;
            for (long shift = history; shift >= 0; shift -= dilation, slot += dilation, to += in * BYTES) {
                const uint8_t* from = time < shift ? zeros : from_ring + (slot < 0 ? slot + turn : slot) * stride;
                copy(in, to, from);
            }
        }
    }

    // Behind them, what the residual matrix sees: the input of the block's first convolution.
    void gather_residual(const Conv& conv, int first, int rows, long offset) {
        for (int row = first; row < first + rows; ++row) {
            const uint8_t* from = ring(conv, row) + batch.time[row] % conv.ring_rows * conv.ring_stride * BYTES;
            copy(conv.in, reinterpret_cast<uint8_t*>(panel + (row - first) * model.panel_stride + offset), from);
        }
    }

    // In whole cache lines: panels and rings have room for what runs over.
    static void copy(long count, uint8_t* to, const uint8_t* from) {
        for (long at = 0; at < count * BYTES; at += sizeof(Line)) store(to + at, load<Line>(from + at));
    }

    // Ask for what the next convolution's older taps will see: the rings of many streams are larger than the caches.
    void call_up(const Conv& next, int first, int rows) {
        for (int row = first; row < first + rows; ++row)
            for (long shift = next.history; shift > 0; shift -= next.dilation) {
                const long slot = batch.slot[1][row] - shift;
                const uint8_t* from = ring(next, row) + (slot < 0 ? slot + next.ring_rows : slot) * next.ring_stride * BYTES;
                for (long at = 0; at < next.in * BYTES; at += LINE) __builtin_prefetch(from + at, 0, 2);
            }
    }

    void multiply(const Matrix& matrix, int part, const float* start, long start_stride, int rows, long offset) {
        matrix.multiply(rows, start, start_stride, tile, panel + offset, model.panel_stride, matrix.panel(part), matrix.depth);
    }

    // act(tile), and the residual's bias so that its matrix can be added to the tile.
    void activate_tile(const float* bias, int width, int rows) {
        for (int row = 0; row < rows; ++row)
            for (int c = 0; c < width; c += GROUP) {
                float* at = tile + row * width + c;
                store(at, activate<ACTIVATION>(load<Float8>(at)) + load<Float8>(bias + c));
            }
    }

    // Hand the rows on: through activation and residual, unless a matrix was it, to the next ring or to the hop.
    void finish(int index, int part, long width, int first, int rows) {
        const Conv& conv = model.convs[index];
        const long column = part * width, left = padded(conv.out, GROUP) - column;
        const long count = left < width ? left : width;
        const float* values = tile;
        float* x = batch.x.data() + first * batch.x_stride + column;
        const bool last = index + 1 == int(model.convs.size()), matrix = conv.many.residual.depth;
        for (int row = first; row < first + rows; ++row, values += width, x += batch.x_stride) {
            if (last) {
                for (long c = 0; c < count; c += GROUP) {
                    Float8 y = load<Float8>(values + c);
                    if (!matrix) y = activate<ACTIVATION>(y) + load<Float8>(x + c);
                    pool(row, column + c, y);
                }
                continue;
            }
            const Conv& next = model.convs[index + 1];
            uint8_t* to = ring(next, row) + (batch.slot[1][row] * next.ring_stride + column) * BYTES;
            for (long c = 0; c < count; c += GROUP) {
                Float8 y = load<Float8>(values + c);
                if (!matrix) y = activate<ACTIVATION>(y);
                if (conv.ends_block) {
                    if (!matrix) y += load<Float8>(x + c);
                    store(x + c, y);
                }
                store(to + c * BYTES, Element::from(y));
            }
        }
    }

    void pool(int row, long column, Float8 y) {
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

template <class Element>
void run_stage(const Model& model, Batch& batch, Desk& desk, int first, int last) {
    switch (model.activation) {
        case Activation::leaky_relu: return Stage<Element, Activation::leaky_relu>(model, batch, desk).run(first, last);
        case Activation::relu: return Stage<Element, Activation::relu>(model, batch, desk).run(first, last);
        case Activation::softplus: return Stage<Element, Activation::softplus>(model, batch, desk).run(first, last);
    }
}

}  // namespace
}  // namespace wavetell
