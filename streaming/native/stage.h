// One batch through a run of convolutions: gather panels, multiply, finish.
//
//     stage:  y = act(conv(x))          block:  h = act(conv(x)),   y = act(conv(h)) + r(x)
//
// Every instruction set includes this file and compiles its own copy, with Rows = the elements its rings hold.

#pragma once

#include <cstring>

#include "maps.h"

namespace wavetell {
namespace {

typedef double Double8 __attribute__((vector_size(64)));
typedef uint32_t Cell8 __attribute__((vector_size(32)));
typedef uint16_t Short8 __attribute__((vector_size(16)));

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
        : model(model),
          batch(batch),
          rows(batch.row.data()),
          panel(desk.panel.data()),
          tile(desk.tile.data()),
          zeros(desk.zeros.data()),
          planes(desk.maps.data()) {}

    void run(int first, int last) {
        const int count = int(model.convs.size());
        if (first == 0)
            take_samples();
        else
            find_slots(model.convs[first]);
        for (int index = first; index < last; ++index) {
            const Conv& conv = model.convs[index];
            if (index == 0 || conv.stride > 1) thin(conv);
            if (!batch.rows) return;
            if (index + 1 < count) find_next(model.convs[index + 1]);
            convolve(index);
            for (int row = 0; row < batch.rows; ++row) rows[row].slot = rows[row].next;
        }
    }

  private:
    const Model& model;
    Batch& batch;
    Row* const rows;
    uint32_t* const panel;
    float* const tile;
    const uint8_t* const zeros;
    Planes planes;

    static uint8_t* ring(const Conv& conv, Stream* stream) { return stream->rings.data() + conv.ring_offset; }

    // The input maps, eight samples by eight channels at a time, to the first ring and, where no stage follows, to the first block.
    void take_samples() {
        const Conv& conv = model.convs[0];
        float* x = conv.role == Role::stage ? nullptr : batch.x.data();
        for (const Part& part : batch.parts) {
            long slot = part.time / conv.stride % conv.ring_rows, at = part.time % conv.stride;
            for (int64_t done = 0; done < part.count; done += SPAN) {
                const long count = part.count - done < SPAN ? part.count - done : SPAN;
                const float* from = planes.expand(model, part.stream->past, part.iq + 2 * done, count);
                for (long i = 0; i < count; i += GROUP) {
                    const int samples = count - i < GROUP ? int(count - i) : GROUP;
                    uint8_t* to[GROUP];
                    for (int j = 0; j < samples; ++j) {
                        to[j] = ring(conv, part.stream) + (slot * conv.ring_stride + at * model.channels) * BYTES;
                        advance(conv, slot, at);
                    }
                    take_group(from + i, samples, to, x);
                    if (x) x += samples * model.x_stride;
                }
            }
        }
    }

    void take_group(const float* from, int samples, uint8_t* const* to, float* x) {
        for (int c = 0; c < model.channels; c += GROUP, from += GROUP * Planes::LENGTH) {
            Float8 block[GROUP];
            for (int k = 0; k < GROUP; ++k) block[k] = load<Float8>(from + k * Planes::LENGTH);
            transpose(block);
            for (int j = 0; j < samples; ++j) {
                put(to[j] + c * BYTES, block[j], model.channels - c);
                if (x) store(x + j * model.x_stride + c, block[j]);
            }
        }
    }

    // A group of channels, of which so many are left: behind the last one another input may lie.
    static void put(uint8_t* to, Float8 y, long left) {
        const Group group = Element::from(y);
        if (__builtin_expect(left >= GROUP, true)) return store(to, group);
        const uint8_t* from = reinterpret_cast<const uint8_t*>(&group);
        for (long i = 0; i < left * BYTES; i += BYTES) std::memcpy(to + i, from + i, BYTES);
    }

    // To the next input of a ring: in the same row, where it has room.
    static void advance(const Conv& conv, long& slot, long& at) {
        if (++at < conv.stride) return;
        at = 0;
        if (++slot == conv.ring_rows) slot = 0;
    }

    // From the convolution's inputs to its outputs: one for every row that has become full.
    void thin(const Conv& conv) {
        const int64_t per_hop = model.hop / conv.step;
        batch.rows = 0;
        for (Part& part : batch.parts) {
            const int64_t end = (part.time + part.count) / conv.stride;
            part.time /= conv.stride;
            part.count = end - part.time;
            float* hop = part.hops;
            int64_t phase = part.time % per_hop;
            for (int64_t time = part.time; time < end; ++time) {
                const bool ends = ++phase == per_hop;
                rows[batch.rows++] = {part.stream, time, ends ? hop : nullptr, 0, 0, 0};
                if (ends) hop += model.hop_size(), phase = 0;
            }
        }
        find_slots(conv);
    }

    // Which row of the convolution's ring belongs to each row of the batch.
    void find_slots(const Conv& conv) {
        for (int row = 0; row < batch.rows; ++row)
            if (row && rows[row].stream == rows[row - 1].stream)
                rows[row].slot = rows[row - 1].slot + 1 == conv.ring_rows ? 0 : rows[row - 1].slot + 1;
            else
                rows[row].slot = rows[row].time % conv.ring_rows;
    }

    // And where the next one takes it as its input.
    void find_next(const Conv& next) {
        for (int row = 0; row < batch.rows; ++row) {
            Row& now = rows[row];
            if (row && now.stream == rows[row - 1].stream) {
                now.next = rows[row - 1].next, now.at = rows[row - 1].at;
                advance(next, now.next, now.at);
            } else if (next.stride == 1) {
                now.next = now.time % next.ring_rows, now.at = 0;
            } else {
                now.next = now.time / next.stride % next.ring_rows, now.at = now.time % next.stride;
            }
        }
    }

    void convolve(int index) {
        const Conv& conv = model.convs[index];
        const auto& [taps, residual] = conv.weights(batch.rows);
        // Blocks of nearly equal height: a last block of few rows would leave the multipliers idle.
        const int most = model.isa->block(taps.width), blocks = (batch.rows + most - 1) / most;
        for (int block = 0; block < blocks; ++block) {
            const int first = batch.rows * block / blocks, count = batch.rows * (block + 1) / blocks - first;
            gather(conv, first, count);
            if (residual.depth) gather_residual(model.convs[index - 1], first, count, taps.depth);
            for (int part = 0; part < taps.panels; ++part) {
                multiply(taps, part, taps.bias.data() + part * taps.width, 0, count, 0);
                if (residual.depth) {
                    activate_tile(residual.bias.data() + part * taps.width, taps.width, count);
                    multiply(residual, part, tile, residual.width, count, taps.depth);
                }
                finish(index, part, taps.width, first, count);
            }
            if (index + 1 < int(model.convs.size())) call_up(model.convs[index + 1], first, count);
        }
    }

    // Lay side by side what the taps of each row see, the oldest first. A copy runs over the end of its tap;
    // the next tap overwrites that, and after the last one no weight meets it.
    void gather(const Conv& conv, int first, int count) {
        const long in = conv.in, history = conv.history, dilation = conv.dilation, turn = conv.ring_rows;
        const long stride = conv.ring_stride * BYTES, panel_stride = model.panel_stride * 4;
        uint8_t* to_row = reinterpret_cast<uint8_t*>(panel);
        for (int row = first; row < first + count; ++row, to_row += panel_stride) {
            const uint8_t* const from_ring = ring(conv, rows[row].stream);
            const int64_t time = rows[row].time;
            long slot = rows[row].slot - history;
            uint8_t* to = to_row;
            for (long shift = history; shift >= 0; shift -= dilation, slot += dilation, to += in * BYTES) {
                const uint8_t* from = time < shift ? zeros : from_ring + (slot < 0 ? slot + turn : slot) * stride;
                copy(in, to, from);
            }
        }
    }

    // Behind them, what the residual matrix sees: the input of the block's first convolution.
    void gather_residual(const Conv& conv, int first, int count, long offset) {
        for (int row = first; row < first + count; ++row) {
            const long slot = rows[row].time % conv.ring_rows;
            const uint8_t* from = ring(conv, rows[row].stream) + slot * conv.ring_stride * BYTES;
            copy(conv.in, reinterpret_cast<uint8_t*>(panel + (row - first) * model.panel_stride + offset), from);
        }
    }

    // In whole cache lines: panels and rings have room for what runs over.
    static void copy(long count, uint8_t* to, const uint8_t* from) {
#if defined(__SANITIZE_THREAD__)
        std::memcpy(to, from, count * BYTES);  // what runs over is another thread's row; nobody looks at it, but it is read
        return;
#endif
        for (long at = 0; at < count * BYTES; at += LINE) {
            const Cell8 low = load<Cell8>(from + at), high = load<Cell8>(from + at + LINE / 2);
            store(to + at, low), store(to + at + LINE / 2, high);
        }
    }

    // Ask for what the next convolution's older taps will see: the rings of many streams are larger than the caches.
    void call_up(const Conv& next, int first, int count) {
        for (int row = first; row < first + count; ++row)
            for (long shift = next.history; shift > 0; shift -= next.dilation) {
                const long slot = rows[row].next - shift;
                const uint8_t* from = ring(next, rows[row].stream) + (slot < 0 ? slot + next.ring_rows : slot) * next.ring_stride * BYTES;
                for (long at = 0; at < next.in * BYTES; at += LINE) __builtin_prefetch(from + at, 0, 2);
            }
    }

    void multiply(const Matrix& matrix, int part, const float* start, long start_stride, int count, long offset) {
        matrix.multiply(count, start, start_stride, tile, panel + offset, model.panel_stride, matrix.panel(part), matrix.depth);
    }

    // act(tile), and the residual's bias so that its matrix can be added to the tile.
    void activate_tile(const float* bias, int width, int count) {
        for (int row = 0; row < count; ++row)
            for (int c = 0; c < width; c += GROUP) {
                float* at = tile + row * width + c;
                store(at, activate<ACTIVATION>(load<Float8>(at)) + load<Float8>(bias + c));
            }
    }

    // Hand the rows on: through activation and residual, unless a matrix was it, to the next ring or to the hop.
    void finish(int index, int part, long width, int first, int count) {
        const Conv& conv = model.convs[index];
        const long column = part * width, left = conv.out - column, columns = left < width ? left : width;
        const float* values = tile;
        float* x = batch.x.data() + first * model.x_stride + column;
        const bool last = index + 1 == int(model.convs.size()), matrix = conv.many.residual.depth;
        for (int row = first; row < first + count; ++row, values += width, x += model.x_stride) {
            if (last) {
                for (long c = 0; c < columns; c += GROUP) {
                    Float8 y = load<Float8>(values + c);
                    if (!matrix) y = activate<ACTIVATION>(y) + load<Float8>(x + c);
                    pool(rows[row], column + c, y);
                }
                continue;
            }
            const Conv& next = model.convs[index + 1];
            const long place = rows[row].next * next.ring_stride + rows[row].at * conv.out + column;
            uint8_t* to = ring(next, rows[row].stream) + place * BYTES;
            for (long c = 0; c < columns; c += GROUP) {
                Float8 y = load<Float8>(values + c);
                if (!matrix) y = activate<ACTIVATION>(y);
                if (conv.role == Role::block_end && !matrix) y += load<Float8>(x + c);
                if (conv.role != Role::block_begin) store(x + c, y);
                put(to + c * BYTES, y, columns - c);
            }
        }
    }

    void pool(const Row& row, long column, Float8 y) {
        Stream& stream = *row.stream;
        float* maximum = stream.maximum.data() + column;
        double* total = stream.total.data() + column;
        double* squares = model.parts > 2 ? stream.squares.data() + column : nullptr;
        const Float8 before = load<Float8>(maximum), larger = y > before ? y : before;
        const Double8 wide = __builtin_convertvector(y, Double8), sum = load<Double8>(total) + wide;
        const Double8 square = squares ? load<Double8>(squares) + wide * wide : Double8{};
        if (!row.hop) {
            store(maximum, larger);
            store(total, sum);
            if (squares) store(squares, square);
            return;
        }
        write(row.hop, 0, column, larger);
        write(row.hop, 1, column, __builtin_convertvector(sum, Float8));
        store(maximum, Float8{} - __builtin_inff());
        store(total, Double8{});
        if (!squares) return;
        const Double8 scatter = square - sum * sum / double(model.hop / model.convs.back().step);
        write(row.hop, 2, column, __builtin_convertvector(scatter > 0.0 ? scatter : Double8{}, Float8));
        store(squares, Double8{});
    }

    void write(float* hop, int part, long column, Float8 values) {
        const long left = model.reduced - column, count = left < GROUP ? left : GROUP;
        std::memcpy(hop + part * model.reduced + column, &values, count * sizeof(float));
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
