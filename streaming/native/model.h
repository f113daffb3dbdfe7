// The encoder as the kernel runs it, a stream's state, and the batch of rows that is on its way through.
//
// A row is one sample of one stream at one layer. Rows of any streams can share a batch: each convolution gathers,
// for every row, what its taps see in that stream's ring into a panel, and multiplies panels by packed weights.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace wavetell {

constexpr int ROWS = 128;  // rows of a batch, and the rows of a ring beyond what the taps see
constexpr int GROUP = 8;   // channels are stored in groups of so many
constexpr int LINE = 64;   // bytes of a cache line; rows are copied in whole ones

enum class Activation { leaky_relu, relu, softplus };

constexpr long padded(long n, long multiple) { return (n + multiple - 1) / multiple * multiple; }

// tile[r][c] = start[r][c] + sum_k panel[r][k] weights[k][c], each sum one chain in the order of k.
// A cell is 32 bits: one float32 or two bfloat16.
using Multiply = void (*)(int rows, const float* start, long start_stride, float* tile, const uint32_t* panel,
                          long panel_stride, const uint32_t* weights, long depth);

struct Shape {
    int in, out, dilation;
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

struct Conv {
    int in, out, dilation;
    bool ends_block;  // the second of its block: the residual is added
    Weights many;     // for batches of any size
    Weights one;      // for a batch of one row; empty where the instruction set has no such layout or a weight is not a bfloat16

    const Weights& weights(int rows) const { return rows == 1 && one.taps.depth ? one : many; }

    long history;      // inputs before the present one that it sees
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
    std::vector<Conv> convs;
    long reduced = 0, widest = 0;  // channels
    size_t ring_bytes = 0;
    long panel_stride = 0;  // cells
    int panel_rows = 0, tile_size = 0;

    void add_block(Shape shape, const float* taps1, const float* bias1, const float* taps2, const float* bias2,
                   const float* residual, const float* residual_bias);

  private:
    void add_conv(Shape shape, bool ends_block, const Table& taps, const Table& residual);
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
    std::vector<float> maximum;  // of the unfinished hop
    std::vector<double> total;

    void reset();
    void save(uint8_t* state);
    void restore(int64_t position, const uint8_t* state);

  private:
    template <class Copy>
    void each_row(int64_t position, Copy copy);
};

// Where a thread gathers panels and multiplies them.
struct Desk {
    explicit Desk(const Model& model);

    Aligned<uint32_t> panel;
    Aligned<float> tile;
    Aligned<uint8_t> zeros;  // the row before the first sample
};

struct Batch {
    explicit Batch(const Model& model) : x_stride(padded(model.widest, GROUP)), x(ROWS * x_stride) {}

    int rows = 0;
    Stream* stream[ROWS];
    int64_t time[ROWS];
    const float* iq[ROWS];
    float *maximum[ROWS], *total[ROWS];  // where the hop that ends with this row goes, else nullptr
    long slot[2][ROWS];                  // rows of the present and of the next ring
    long x_stride;
    Aligned<float> x;  // the input of the present block, [ROWS][x_stride]
};

}  // namespace wavetell
