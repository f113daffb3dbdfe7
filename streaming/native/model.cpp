// Packing of weights, layout of rings, saving and restoring of a stream.

#include "model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace wavetell {

namespace {

uint16_t bfloat16(float value) {  // round to nearest, ties to even
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

// Whether pairs of bfloat16 hold it exactly.
bool is_paired(const Table& table) {
    return table.rows % 2 == 0 && std::all_of(table.values, table.values + table.rows * table.columns, [](float value) {
               uint32_t bits;
               std::memcpy(&bits, &value, 4);
               return !(bits & 0xffff);
           });
}

}  // namespace

void Model::add_block(Shape shape, const float* taps1, const float* bias1, const float* taps2, const float* bias2,
                      const float* residual, const float* residual_bias) {
    const int in = shape.in, out = shape.out;
    add_conv(shape, false, {taps1, bias1, long(taps) * in, out}, {});
    add_conv({out, out, shape.dilation}, true, {taps2, bias2, long(taps) * out, out},
             residual ? Table{residual, residual_bias, in, out} : Table{});
    reduced = out;
}

void Model::add_conv(Shape shape, bool ends_block, const Table& weights, const Table& residual) {
    Conv conv{shape.in, shape.out, shape.dilation, ends_block, {}, {}, 0, 0, 0, 0};
    const int per_cell = 4 / isa->element_bytes;
    conv.many = {pack(isa->many, per_cell, weights), pack(isa->many, per_cell, residual)};
    // One row uses every weight once: its time is that of reading them, and half as many bytes take half of it.
    if (isa->one.width && is_paired(weights) && is_paired(residual))
        conv.one = {pack(isa->one, 2, weights), pack(isa->one, 2, residual)};
    conv.history = long(taps - 1) * shape.dilation;
    conv.ring_rows = conv.history + ROWS;
    conv.ring_stride = padded(shape.in, GROUP);
    conv.ring_offset = ring_bytes;
    ring_bytes += padded(conv.ring_rows * conv.ring_stride * isa->element_bytes, LINE);
    const int width = conv.many.taps.width, block = isa->block(width);
    panel_stride = std::max(panel_stride, padded(conv.many.taps.depth + conv.many.residual.depth + LINE / 4, 16));
    panel_rows = std::max(panel_rows, block);
    tile_size = std::max({tile_size, block * width, conv.one.taps.width});
    widest = std::max<long>({widest, shape.in, shape.out});
    convs.push_back(std::move(conv));
}

// Within a panel all whole vectors of every cell row come first, then the half vectors: no load crosses a cache line.
Matrix Model::pack(const Layout& layout, int per_cell, const Table& table) const {
    const auto [values, bias, rows, columns] = table;
    Matrix matrix;
    if (!rows) return matrix;
    const long cell_rows = padded((rows + per_cell - 1) / per_cell, isa->depth_multiple);
    matrix.width = layout.width(columns);
    matrix.multiply = layout.multiply(matrix.width);
    matrix.panels = int(padded(columns, matrix.width)) / matrix.width;
    matrix.depth = cell_rows * per_cell * isa->element_bytes / 4;
    matrix.size = cell_rows * matrix.width;
    matrix.cells.assign(matrix.panels * matrix.size + 16, 0);
    matrix.aligned = long(-(reinterpret_cast<uintptr_t>(matrix.cells.data()) / 4)) & 15;
    matrix.bias.assign(matrix.panels * matrix.width, 0.0f);
    std::copy(bias, bias + columns, matrix.bias.begin());

    const int whole = matrix.width / isa->lanes * isa->lanes, half = matrix.width - whole;
    for (long k = 0; k < rows; ++k)
        for (int c = 0; c < columns; ++c) {
            const long cell = k / per_cell;
            const int column = c % matrix.width;
            const long place = column < whole ? cell * whole + column : cell_rows * whole + cell * half + column - whole;
            uint32_t* to = const_cast<uint32_t*>(matrix.panel(c / matrix.width)) + place;
            const float value = values[k * columns + c];
            if (per_cell == 1)
                std::memcpy(to, &value, 4);
            else
                *to |= uint32_t(bfloat16(value)) << 16 * (k % 2);
        }
    return matrix;
}

Stream::Stream(const Model& model)
    : model(model), rings(model.ring_bytes + LINE), maximum(padded(model.reduced, GROUP)), total(maximum.size()) {
    reset();
}

void Stream::reset() {
    position = 0;
    std::fill(maximum.begin(), maximum.end(), -INFINITY);
    std::fill(total.begin(), total.end(), 0.0);
}

// Calls copy(row of the ring or nullptr before the first sample, bytes) for all that the convolutions still see.
template <class Copy>
void Stream::each_row(int64_t end, Copy copy) {
    const int bytes = model.isa->element_bytes;
    for (const Conv& conv : model.convs)
        for (int64_t time = end - conv.history; time < end; ++time) {
            uint8_t* row = rings.data() + conv.ring_offset + time % conv.ring_rows * conv.ring_stride * bytes;
            copy(time < 0 ? nullptr : row, size_t(conv.in) * bytes);
        }
}

void Stream::save(uint8_t* state) {
    each_row(position, [&](const uint8_t* row, size_t bytes) {
        if (row)
            std::memcpy(state, row, bytes);
        else
            std::memset(state, 0, bytes);
        state += bytes;
    });
    std::memcpy(state, maximum.data(), model.reduced * sizeof(float));
    std::memcpy(state + model.reduced * sizeof(float), total.data(), model.reduced * sizeof(double));
}

void Stream::restore(int64_t end, const uint8_t* state) {
    each_row(end, [&](uint8_t* row, size_t bytes) {
        if (row) std::memcpy(row, state, bytes);
        state += bytes;
    });
    std::memcpy(maximum.data(), state, model.reduced * sizeof(float));
    std::memcpy(total.data(), state + model.reduced * sizeof(float), model.reduced * sizeof(double));
    position = end;
}

Desk::Desk(const Model& model)
    : panel(model.panel_rows * model.panel_stride),
      tile(model.tile_size),
      zeros(model.widest * sizeof(float) + LINE) {}

}  // namespace wavetell
