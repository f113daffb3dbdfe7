// The encoder as the kernel runs it, a stream's state, and the batch of rows that is on its way through.
//
// A row is one output of one stream at one layer. Rows of any streams can share a batch: each convolution gathers,
// for every row, what its taps see in that stream's ring into a panel, and multiplies panels by packed weights.
// A strided convolution is an ordinary one over rows of `stride` inputs side by side, and thins the batch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace wavetell {

constexpr int ROWS = 128;  // samples of a batch where nothing is strided
constexpr int DEPTH = 4;   // batches under way where a stream is split over two threads
constexpr int LAG = 16;    // samples before the present one that an input map sees at most
constexpr int SPAN = 128;  // samples whose input maps are computed at a time
constexpr int MAP_PLANES = 34;  // see maps.h
constexpr int GROUP = 8;   // channels are stored in groups of so many
constexpr int LINE = 64;   // bytes of a cache line; rows are copied in whole ones

enum class Activation { leaky_relu, relu, softplus };
enum class Map { iq, phase, square, fourth, amplitude, level, increment, delay1, delay2, delay4, delay8, delay16 };

constexpr long padded(long n, long multiple) { return (n + multiple - 1) / multiple * multiple; }

// tile[r][c] = start[r][c] + sum_k panel[r][k] weights[k][c], each sum one chain in the order of k.
// A cell is 32 bits: one float32 or two bfloat16.
using Multiply = void (*)(int rows, const float* start, long start_stride, float* tile, const uint32_t* panel,
                          long panel_stride, const uint32_t* weights, long depth);

// A convolution of rows of `in` values, which are `stride` inputs side by side.
struct Shape {
    int in, out, taps, dilation, stride;
};

// Weights as they come, [rows][columns]; no rows where there is no matrix.
struct Table {
    const float *values = nullptr, *bias = nullptr;
    long rows = 0;
    int columns = 0;
};

// How weights are cut into panels and multiplied.
struct Layout {
    int (*width)(int out) = nullptr;  // columns of a panel
    Multiply (*multiply)(int width) = nullptr;
};

// Weights of one matrix, cut into panels of `width` columns.
struct Matrix {
    long depth = 0;  // cells of a row
    int width = 0, panels = 0;
    Multiply multiply = nullptr;
    std::vector<uint32_t> cells;  // [panel][size], see pack() for the order within a panel
    std::vector<float> bias;      // [panels * width]

    const uint32_t* panel(int index) const { return cells.data() + aligned + index * size; }
    long size = 0;     // cells of a panel
    long aligned = 0;  // cells to skip so that panels begin on a cache line
};

struct Weights {
    Matrix taps;
    Matrix residual;  // depth 0: the residual is the block's input itself
};

// What becomes of a convolution's outputs: a block's second one adds the residual, which is the block's input.
enum class Role { stage, block_begin, block_end };

struct Conv {
    int in, out, dilation, stride;
    Role role;
    Weights many;     // for batches of any size
    Weights one;      // for a batch of one row; empty where the instruction set has no such layout or a weight is not a bfloat16

    const Weights& weights(int rows) const { return rows == 1 && one.taps.depth ? one : many; }

    long history;      // rows before the present one that it sees
    int step;          // samples per output
    double cost;       // multiply-adds per sample
    long ring_rows;    // rows of its ring of inputs
    long ring_stride;  // elements from row to row
    size_t ring_offset;
};

struct Model;
struct Stream;
struct Batch;

// What an instruction set provides.
struct Isa {
    const char* name;
    int element_bytes;       // of a ring: 4 float32, 2 bfloat16
    int depth_multiple;      // a matrix has a multiple of so many cells
    int lanes;               // columns of a whole vector
    int (*block)(int width); // rows multiplied at once
    Layout many;             // cells as the rings' elements fill them
    Layout one;              // two bfloat16 in a cell, widened to float32 as they are read
    void (*run)(const Model& model, Batch& batch, struct Desk& desk, int first, int last);  // convolutions [first, last)
};

// The instruction sets compiled in; nullptr where this processor is of another family.
extern const Isa *const portable, *const avx2, *const avx512, *const avx512bf16, *const amx, *const amx_emulated, *const neon;

struct Model {
    const Isa* isa;
    Activation activation;
    int taps, hop;
    int parts;  // of a hop: maximum, total and, where deviations are pooled, scatter
    std::vector<Map> maps;
    int channels = 0, lag = 0;  // of the maps; samples that they see before the present one
    std::vector<Conv> convs;
    int batch = 0;                           // samples of a batch
    long reduced = 0, widest = 0, x_stride = 0;  // channels; values of a ring's row; values of a block's input
    size_t ring_bytes = 0;
    long panel_stride = 0;  // cells
    int panel_rows = 0, tile_size = 0;

    void add_map(Map map);
    void add_stage(int in, int out, int kernel, int stride, const float* taps, const float* bias);
    void add_block(int in, int out, int dilation, const float* taps1, const float* bias1, const float* taps2,
                   const float* bias2, const float* residual, const float* residual_bias);
    void lay_out();  // rings, when all convolutions are there

    double cost() const;  // multiply-adds per sample
    long hop_size() const { return parts * reduced; }

  private:
    void add_conv(Shape shape, Role role, const Table& taps, const Table& residual);
    Matrix pack(const Layout& layout, int per_cell, const Table& table) const;
};

// Memory on a cache line of its own.
template <class T>
struct Aligned {
    explicit Aligned(size_t count) : memory(new T[count + LINE / sizeof(T)]()) {}
    T* data() { return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory.get()) + LINE - 1) & ~uintptr_t(LINE - 1)); }

  private:
    std::unique_ptr<T[]> memory;
};

struct Stream {
    explicit Stream(const Model& model);

    const Model& model;
    int64_t position = 0;  // samples since the reset; rows before the first sample are never read from a ring
    Aligned<uint8_t> rings;
    float past[2 * LAG];         // the last samples
    std::vector<float> maximum;  // of the unfinished hop
    std::vector<double> total, squares;

    int64_t completes(int64_t samples) const { return (position % model.hop + samples) / model.hop; }  // hops
    void reset();
    void save(uint8_t* state);
    void restore(int64_t position, const uint8_t* state);

  private:
    template <class Copy>
    void each_part(int64_t position, Copy copy);
};

// Where a thread gathers panels and multiplies them.
struct Desk {
    explicit Desk(const Model& model);

    Aligned<uint32_t> panel;
    Aligned<float> tile;
    Aligned<float> maps;     // see maps.h
    Aligned<uint8_t> zeros;  // the row before the first sample
};

// One stream's samples in a batch, and at each layer what they have become.
struct Part {
    Stream* stream;
    const float* iq;
    float* hops;  // where the hops go that end here, [hops][parts][reduced]
    int64_t time, count;
};

struct Row {
    Stream* stream;
    int64_t time;
    float* hop;     // where the hop that ends with this row goes, else nullptr
    long slot;      // row of the present convolution's ring
    long next, at;  // row of the next one's, and which of its inputs
};

struct Batch {
    explicit Batch(const Model& model) : row(model.batch), x(model.batch * model.x_stride) {}

    std::vector<Part> parts;
    int rows = 0;
    std::vector<Row> row;
    Aligned<float> x;  // the input of the present block, [rows][x_stride]
};

}  // namespace wavetell
