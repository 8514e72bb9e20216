// The layout of the operands of Hopper's matrix instructions (wgmma) in shared memory and in
// registers. It is index arithmetic without CUDA, so that the host can test it.
//
// A tile of R rows × 64 columns of 16-bit numbers is R lines of 128 bytes. The 16-byte chunks of a
// line are permuted by the row, chunk ^ (row mod 8) (PTX ISA, "128-byte swizzle"), so that eight
// rows that are read at one column touch all banks. A tile of 128 columns is two such panels in
// sequence. Operands are packed into this order once per token, so that a tile is one contiguous
// copy.
#pragma once

#include <cstdint>

#include "gpu/tile/block.h"

namespace conelab::gpu::hopper {

constexpr int group_threads = 128;  ///< The threads of a warpgroup.
constexpr int group_rows = 64;      ///< The rows of a warpgroup's product.
constexpr int key_tile = 128;       ///< The keys of a tile of the forward kernel.
constexpr int panel_columns = 64;   ///< The columns of a panel.
constexpr int line_bytes = 128;     ///< The bytes of a row of a panel.

CONELAB_TILE constexpr int panel_bytes(int rows) { return rows * line_bytes; }
CONELAB_TILE constexpr int tile_bytes(int rows, int columns) {
  return panel_bytes(rows) * (columns / panel_columns);
}

/// Returns the byte of element (row, column) in a tile of `rows` rows.
CONELAB_TILE constexpr int swizzled(int rows, int row, int column) {
  const int panel = column / panel_columns;
  const int within = column % panel_columns * 2;
  return panel * panel_bytes(rows) + row * line_bytes + (within ^ (row % 8 * 16));
}

/// Returns the matrix descriptor of wgmma for a tile at a shared address that is aligned to 1024
/// bytes (PTX ISA, matrix descriptor format): address / 16 in bits 0-13, the byte offsets `leading`
/// / 16 and `stride` / 16 in bits 16-29 and 32-45, the 128-byte swizzle in bits 62-63.
CONELAB_TILE constexpr std::uint64_t descriptor(std::uint32_t address, int leading, int stride) {
  return static_cast<std::uint64_t>((address & 0x3ffff) >> 4) |
         static_cast<std::uint64_t>((leading & 0x3ffff) >> 4) << 16 |
         static_cast<std::uint64_t>((stride & 0x3ffff) >> 4) << 32 | std::uint64_t{1} << 62;
}

/// Returns the descriptor of the place `bytes` further on. This is one addition, because an address
/// in shared memory fits into its bits.
CONELAB_TILE constexpr std::uint64_t moved(std::uint64_t descriptor, int bytes) {
  return descriptor + static_cast<std::uint64_t>(bytes >> 4);
}

/// Returns the descriptor of an operand whose lines run along the summed axis (Q, K). Eight rows
/// are 1024 bytes; the leading offset is unused. Each step of 16 columns starts 32 bytes after the
/// step before, or in the next panel.
CONELAB_TILE constexpr std::uint64_t depth_descriptor(std::uint32_t tile, int rows, int step) {
  return moved(descriptor(tile, 16, 8 * line_bytes), step / 4 * panel_bytes(rows) + step % 4 * 32);
}

/// Returns the descriptor of an operand whose lines run along the other axis (V [keys × width]).
/// Columns from 64 on are panel_bytes(rows) away, the next eight keys 1024 bytes. Each step of
/// 16 keys starts 2048 bytes after the step before.
CONELAB_TILE constexpr std::uint64_t outer_descriptor(std::uint32_t tile, int rows, int step) {
  return moved(descriptor(tile, panel_bytes(rows), 8 * line_bytes), step * 16 * line_bytes);
}

/// Return the row and the column, in the 64 × N result, of accumulator i of a warpgroup's thread.
CONELAB_TILE constexpr int accumulator_row(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
CONELAB_TILE constexpr int accumulator_column(int thread, int i) {
  return i / 4 * 8 + thread % 4 * 2 + i % 2;
}
/// Returns the accumulator that holds the e-th of a thread's columns in the first (h = 0) or second
/// of its two rows.
CONELAB_TILE constexpr int accumulator(int h, int e) { return e / 2 * 4 + h * 2 + e % 2; }
/// Returns column - row.
CONELAB_TILE constexpr int accumulator_offset(int thread, int i) {
  return accumulator_column(thread, i) - accumulator_row(thread, i);
}

/// Return the row and the column of half `half` of register r of the left operand [64 × 16] in
/// registers. The four registers of step s hold, in order, the accumulators 8 s ... 8 s + 7 of the
/// product before.
CONELAB_TILE constexpr int left_row(int thread, int r) {
  return thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8;
}
CONELAB_TILE constexpr int left_column(int thread, int r, int half) {
  return r / 2 * 8 + thread % 4 * 2 + half;
}

/// The law of weights and whether there is a bias. Weights by sigmoid always have one, which may be
/// 0.
enum class Law { softmax, biased, sigmoid };

/// A bias is a number for each offset, key - query. A head's table has it at entry
/// offset_origin(queries) + key - query, so that those of the pairs of a block and a tile begin at
/// a multiple of 64.
constexpr int block_rows = 2 * group_rows;  ///< The rows of a block of two consumers.
CONELAB_TILE constexpr int offset_origin(int queries) {
  return (queries + block_rows - 1) / block_rows * block_rows;
}
/// Returns the entries of a head's table.
CONELAB_TILE constexpr int offset_entries(int queries, int keys) {
  return offset_origin(queries) + (keys + key_tile - 1) / key_tile * key_tile;
}
/// Returns the entries that the pairs of a block and `others` tokens of the other side need.
CONELAB_TILE constexpr int window_entries(Law law, int others) {
  return law == Law::softmax ? 0 : block_rows + others;
}

/// The shared memory of the forward kernel, in bytes; all parts are aligned to 1024.
struct Budget {
  int consumers, width, values, stages;
  Law law = Law::softmax;
  [[nodiscard]] CONELAB_TILE constexpr int query_bytes() const {
    return consumers * tile_bytes(group_rows, width);
  }
  [[nodiscard]] CONELAB_TILE constexpr int key_bytes() const { return tile_bytes(key_tile, width); }
  /// Returns the size of the offsets and values of a tile of keys, which are floats.
  [[nodiscard]] CONELAB_TILE constexpr int fact_bytes() const {
    return (1 + values) * key_tile * 4;
  }
  /// Returns the size of the biases of a tile of keys, which are floats.
  [[nodiscard]] CONELAB_TILE constexpr int window_bytes() const {
    return window_entries(law, key_tile) * 4;
  }
  [[nodiscard]] CONELAB_TILE constexpr int stage_bytes() const {
    return 2 * key_bytes() + (fact_bytes() + window_bytes() + 1023) / 1024 * 1024;
  }
  [[nodiscard]] CONELAB_TILE constexpr int total() const {
    return 1024 + query_bytes() + stages * stage_bytes() + 1024;
  }
};

/// The most bytes of shared memory and registers of a block on compute capability 9.0.
constexpr int shared_limit = 227 * 1024;
constexpr int register_limit = 65536;

/// The registers of each thread after a producer and two consumers have exchanged them.
constexpr int producer_registers = 24;
constexpr int consumer_registers = 240;
/// The registers that each thread is launched with: the most that all threads can have, in steps of
/// 8.
constexpr int launch_registers = register_limit / (3 * group_threads) / 8 * 8;
// Together the warpgroups must not take more registers than they were launched with, because one
// that waits for more would never continue.
static_assert(producer_registers + 2 * consumer_registers <= 3 * launch_registers);

}  // namespace conelab::gpu::hopper
