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

}  // namespace

void Model::add_block(Shape shape, const float* taps1, const float* bias1, const float* taps2, const float* bias2,
                      const float* residual, const float* residual_bias) {
    add_conv(shape, false, taps1, bias1);
    add_conv({shape.out, shape.out, shape.dilation}, true, taps2, bias2);
    Conv& second = convs.back();
    if (residual) second.residual = pack(residual, residual_bias, shape.in, shape.out);
    reduced = shape.out;
    panel_stride = std::max(panel_stride, second.taps.depth + second.residual.depth + LINE / 4);
    panel_stride = padded(panel_stride, 16);
}

void Model::add_conv(Shape shape, bool ends_block, const float* values, const float* bias) {
    Conv conv{shape.in, shape.out, shape.dilation, ends_block, {}, {}, nullptr, 0, 0, 0, 0};
    conv.taps = pack(values, bias, long(taps) * shape.in, shape.out);
    conv.multiply = isa->multiply(conv.taps.width);
    conv.history = long(taps - 1) * shape.dilation;
    conv.ring_rows = conv.history + ROWS;
    conv.ring_stride = padded(shape.in, GROUP);
    conv.ring_offset = ring_bytes;
    ring_bytes += padded(conv.ring_rows * conv.ring_stride * isa->element_bytes, LINE);
    panel_stride = std::max(panel_stride, conv.taps.depth + LINE / 4);
    panel_rows = std::max(panel_rows, isa->block(conv.taps.width));
    widest = std::max<long>({widest, shape.in, shape.out});
    convs.push_back(std::move(conv));
}

// Within a panel all whole vectors of every cell row come first, then the half vectors: no load crosses a cache line.
Matrix Model::pack(const float* values, const float* bias, long rows, int columns) const {
    const int per_cell = 4 / isa->element_bytes;
    Matrix matrix;
    matrix.width = isa->width(columns);
    matrix.panels = int(padded(columns, matrix.width)) / matrix.width;
    matrix.depth = padded((rows + per_cell - 1) / per_cell, isa->depth_multiple);
    matrix.cells.assign(matrix.panels * matrix.depth * matrix.width + 16, 0);
    matrix.aligned = long(-(reinterpret_cast<uintptr_t>(matrix.cells.data()) / 4)) & 15;
    matrix.bias.assign(matrix.panels * matrix.width, 0.0f);
    std::copy(bias, bias + columns, matrix.bias.begin());

    const int whole = matrix.width / isa->lanes * isa->lanes, half = matrix.width - whole;
    for (long k = 0; k < rows; ++k)
        for (int c = 0; c < columns; ++c) {
            const long cell = k / per_cell;
            const int column = c % matrix.width;
            const long place = column < whole ? cell * whole + column : matrix.depth * whole + cell * half + column - whole;
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
      tile(model.panel_rows * 64),
      zeros(model.widest * sizeof(float) + LINE) {}

}  // namespace wavetell
