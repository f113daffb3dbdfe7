// Packing of weights, layout of rings, saving and restoring of a stream.

#include "model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace wavetell {

namespace {

constexpr int WIDEST = 8;  // a strided encoder's batches are so many times as long, so that its rows still fill blocks

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

void Model::add_map(Map map) {
    constexpr int LAGS[] = {0, 0, 0, 0, 0, 0, 1, 1, 2, 4, 8, 16};
    maps.push_back(map);
    channels += map == Map::amplitude || map == Map::level ? 1 : 2;
    lag = std::max(lag, LAGS[int(map)]);
}

void Model::add_stage(int in, int out, int kernel, int stride, const float* taps, const float* bias) {
    add_conv({stride * in, out, kernel / stride, 1, stride}, Role::stage, {taps, bias, long(kernel) * in, out}, {});
}

void Model::add_block(int in, int out, int dilation, const float* taps1, const float* bias1, const float* taps2,
                      const float* bias2, const float* residual, const float* residual_bias) {
    add_conv({in, out, taps, dilation, 1}, Role::block_begin, {taps1, bias1, long(taps) * in, out}, {});
    add_conv({out, out, taps, dilation, 1}, Role::block_end, {taps2, bias2, long(taps) * out, out},
             residual ? Table{residual, residual_bias, in, out} : Table{});
    reduced = out;
}

void Model::add_conv(Shape shape, Role role, const Table& weights, const Table& residual) {
    Conv conv{shape.in, shape.out, shape.dilation, shape.stride, role, {}, {}, 0, 0, 0, 0, 0, 0};
    const int per_cell = 4 / isa->element_bytes;
    conv.many = {pack(isa->many, per_cell, weights), pack(isa->many, per_cell, residual)};
    // One row uses every weight once: its time is that of reading them, and half as many bytes take half of it.
    if (isa->one.width && is_paired(weights) && is_paired(residual))
        conv.one = {pack(isa->one, 2, weights), pack(isa->one, 2, residual)};
    conv.history = long(shape.taps - 1) * shape.dilation;
    conv.step = shape.stride * (convs.empty() ? 1 : convs.back().step);
    conv.cost = double(weights.rows + residual.rows) * shape.out / conv.step;
    conv.ring_stride = padded(shape.in, GROUP);
    const int width = conv.many.taps.width, block = isa->block(width);
    panel_stride = std::max(panel_stride, padded(conv.many.taps.depth + conv.many.residual.depth + LINE / 4, 16));
    panel_rows = std::max(panel_rows, block);
    tile_size = std::max({tile_size, block * width, conv.one.taps.width});
    widest = std::max(widest, conv.ring_stride);
    x_stride = std::max({x_stride, padded(shape.in / shape.stride, GROUP), padded(shape.out, GROUP)});
    convs.push_back(std::move(conv));
}

void Model::lay_out() {
    batch = ROWS * std::min(convs.back().step, WIDEST);
    for (Conv& conv : convs) {
        // Beyond what the taps see, all rows that are under way; each of those batches may begin one and end another.
        conv.ring_rows = conv.history + batch / conv.step + (conv.step > 1 ? DEPTH + 1 : 0);
        conv.ring_offset = ring_bytes;
        ring_bytes += padded(conv.ring_rows * conv.ring_stride * isa->element_bytes, LINE);
    }
}

double Model::cost() const {
    return std::accumulate(convs.begin(), convs.end(), 0.0, [](double sum, const Conv& conv) { return sum + conv.cost; });
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
    : model(model),
      rings(model.ring_bytes + LINE),
      maximum(padded(model.reduced, GROUP)),
      total(maximum.size()),
      squares(model.parts > 2 ? maximum.size() : 0) {
    reset();
}

void Stream::reset() {
    position = 0;
    std::fill(std::begin(past), std::end(past), 0.0f);
    std::fill(maximum.begin(), maximum.end(), -INFINITY);
    std::fill(total.begin(), total.end(), 0.0);
    std::fill(squares.begin(), squares.end(), 0.0);
}

// Calls copy(where, bytes that are there, bytes) for all that a stream keeps. Of what lies before the first sample, and
// of a strided convolution's last row behind its newest input, nothing is there.
template <class Copy>
void Stream::each_part(int64_t end, Copy copy) {
    const size_t lag_bytes = 2 * model.lag * sizeof(float), bytes = model.isa->element_bytes;
    copy(past + 2 * (LAG - model.lag), lag_bytes, lag_bytes);
    for (const Conv& conv : model.convs) {
        const int64_t inputs = end / (conv.step / conv.stride), row = inputs / conv.stride, begun = inputs % conv.stride;
        const size_t whole = conv.in * bytes;
        for (int64_t time = row - conv.history; time < row + (conv.stride > 1); ++time) {
            const size_t there = time < 0 ? 0 : time < row ? whole : whole / conv.stride * begun;
            const size_t slot = time < 0 ? 0 : time % conv.ring_rows;
            copy(rings.data() + conv.ring_offset + slot * conv.ring_stride * bytes, there, whole);
        }
    }
    copy(maximum.data(), model.reduced * sizeof(float), model.reduced * sizeof(float));
    for (std::vector<double>* sums : {&total, &squares}) {
        const size_t size = sums->empty() ? 0 : model.reduced * sizeof(double);
        copy(sums->data(), size, size);
    }
}

void Stream::save(uint8_t* state) {
    each_part(position, [&](const void* from, size_t there, size_t bytes) {
        if (there) std::memcpy(state, from, there);
        std::memset(state + there, 0, bytes - there);
        state += bytes;
    });
}

void Stream::restore(int64_t end, const uint8_t* state) {
    each_part(end, [&](void* to, size_t there, size_t bytes) {
        if (there) std::memcpy(to, state, there);
        state += bytes;
    });
    position = end;
}

Desk::Desk(const Model& model)
    : panel(model.panel_rows * model.panel_stride),
      tile(model.tile_size),
      maps(MAP_PLANES * (LAG + SPAN)),
      zeros(model.widest * sizeof(float) + LINE) {}

}  // namespace wavetell
