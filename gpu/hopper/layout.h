// How operands of Hopper's matrix instructions lie in shared memory and registers: index arithmetic
// without CUDA, so that the host can test it.
//
// A tile of R rows × 64 columns of 16-bit numbers is R lines of 128 bytes, whose 16-byte chunks are
// permuted by the row, chunk ^ (row mod 8) (PTX ISA, "128-byte swizzle"): eight rows read at one
// column touch all banks. A tile of 128 columns is two such panels, one after the other. Operands
// are packed into this order once per token, so that a tile is one contiguous copy.
#pragma once

#include <cstdint>

#include "gpu/tile/block.h"

namespace conelab::gpu::hopper {

constexpr int group_threads = 128;  ///< Threads of a warpgroup.
constexpr int group_rows = 64;      ///< Rows of a warpgroup's product.
constexpr int key_tile = 128;
constexpr int panel_columns = 64;
constexpr int line_bytes = 128;

CONELAB_TILE constexpr int panel_bytes(int rows) { return rows * line_bytes; }
CONELAB_TILE constexpr int tile_bytes(int rows, int columns) {
  return panel_bytes(rows) * (columns / panel_columns);
}

/// Byte of element (row, column) in a tile of `rows` rows.
CONELAB_TILE constexpr int swizzled(int rows, int row, int column) {
  const int panel = column / panel_columns;
  const int within = column % panel_columns * 2;
  return panel * panel_bytes(rows) + row * line_bytes + (within ^ (row % 8 * 16));
}

/// Which of the operand's axes is contiguous in a line.
enum class Major { depth, outer };

/// The matrix descriptor of wgmma for a tile at a 1024-byte aligned shared address (PTX ISA, matrix
/// descriptor format): address / 16 in bits 0-13, leading and stride byte offsets / 16 in bits
/// 16-29 and 32-45, 128-byte swizzle in bits 62-63.
CONELAB_TILE constexpr std::uint64_t descriptor(std::uint32_t address, int leading, int stride) {
  return static_cast<std::uint64_t>((address & 0x3ffff) >> 4) |
         static_cast<std::uint64_t>((leading & 0x3ffff) >> 4) << 16 |
         static_cast<std::uint64_t>((stride & 0x3ffff) >> 4) << 32 | std::uint64_t{1} << 62;
}

/// Operand whose lines run along the depth (Q, K): eight rows are 1024 bytes; the leading offset is
/// unused. Step s of 16 columns starts 32 bytes further, or in the next panel.
CONELAB_TILE constexpr std::uint64_t depth_descriptor(std::uint32_t tile, int rows, int step) {
  const std::uint32_t offset =
      static_cast<std::uint32_t>(step / 4 * panel_bytes(rows) + step % 4 * 32);
  return descriptor(tile + offset, 16, 8 * line_bytes);
}

/// Operand whose lines run along the outer axis (V, keys × width): columns beyond 64 are `leading`
/// bytes away, the next eight keys 1024. Step s of 16 keys starts 2048 bytes further.
CONELAB_TILE constexpr std::uint64_t outer_descriptor(std::uint32_t tile, int rows, int step) {
  return descriptor(tile + static_cast<std::uint32_t>(step * 16 * line_bytes), panel_bytes(rows),
                    8 * line_bytes);
}

/// Accumulator i of a thread of the warpgroup: its row and column in the 64 × N result.
CONELAB_TILE constexpr int accumulator_row(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
CONELAB_TILE constexpr int accumulator_column(int thread, int i) {
  return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

/// Half h of register r of the left operand (64 × 16, in registers): its row and column. Four
/// registers of two halves are accumulators 8 s ... 8 s + 7 of the product before, in that order.
CONELAB_TILE constexpr int left_row(int thread, int r) {
  return thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8;
}
CONELAB_TILE constexpr int left_column(int thread, int r, int half) {
  return r / 2 * 8 + thread % 4 * 2 + half;
}

/// Shared memory of the forward kernel, all parts 1024-byte aligned.
struct Budget {
  int consumers, width, values, stages;
  [[nodiscard]] CONELAB_TILE constexpr int query_bytes() const {
    return consumers * tile_bytes(group_rows, width);
  }
  [[nodiscard]] CONELAB_TILE constexpr int key_bytes() const { return tile_bytes(key_tile, width); }
  /// Offsets and values of a tile of keys, in floats.
  [[nodiscard]] CONELAB_TILE constexpr int fact_bytes() const {
    return (1 + values) * key_tile * 4;
  }
  [[nodiscard]] CONELAB_TILE constexpr int stage_bytes() const {
    return 2 * key_bytes() + (fact_bytes() + 1023) / 1024 * 1024;
  }
  [[nodiscard]] CONELAB_TILE constexpr int total() const {
    return 1024 + query_bytes() + stages * stage_bytes() + 1024;
  }
};

/// What a block of compute capability 9.0 can have.
constexpr int shared_limit = 227 * 1024;
constexpr int register_limit = 65536;

/// Registers per thread after the warpgroups have exchanged them.
constexpr int producer_registers = 24;
CONELAB_TILE constexpr int consumer_registers(int consumers) { return consumers == 2 ? 240 : 160; }
/// What threads of a block are launched with: the most that all of them can have, in steps of 8.
CONELAB_TILE constexpr int launch_registers(int consumers) {
  return register_limit / (group_threads * (consumers + 1)) / 8 * 8;
}
// The warpgroups can take no more than they were launched with: one that waited for more would
// wait for ever.
static_assert(producer_registers + 2 * consumer_registers(2) <= 3 * launch_registers(2));
static_assert(producer_registers + 3 * consumer_registers(3) <= 4 * launch_registers(3));

}  // namespace conelab::gpu::hopper
