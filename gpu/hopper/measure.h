// Computes the squared distances of a thread's pairs from their products, in place:
//
//   |u - v|^2 = |u|^2 + |v|^2 - 2 u·v
//
// Close pairs, for which this cancels, are recomputed by direct difference from the tiles in shared
// memory. The warp decides once for a whole tile whether any pair is close, because a decision
// takes three instructions and keeps the compiler from interleaving those around it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "gpu/hopper/lanes.h"
#include "gpu/hopper/layout.h"
#include "gpu/tile/pair.h"

namespace conelab::gpu::hopper {

/// A swizzled tile of 16-bit numbers in shared memory.
struct TileBytes {
  const unsigned char* data;
  int rows;
};

/// The pairs of one thread: two rows, and the columns of its `products` accumulators.
template <class Type, int width, int products>
struct SquaredDistances {
  int thread;
  const float (&row_offset)[2];  ///< The squared norms of the thread's two rows.
  const float* column_offset;    ///< [columns] their squared norms, aligned to 8 bytes.
  TileBytes rows, columns;
  int first;  ///< The row of `columns` that belongs to the products' first column.

  /// Replaces the products in `tile` by squared distances. A result below zero counts as close and
  /// is recomputed, so that it needs no bound. Returns whether there is a close pair, on the device
  /// in any thread of the warp.
  CONELAB_TILE bool replace(float (&tile)[products]) const {
    std::uint32_t signs = 0;
#pragma unroll
    for (int i = 0; i < products; i += 4) {
      const Lanes<2> column =
          load_pairs<2>([&](int l) { return column_offset + accumulator_column(thread, i + l); });
#pragma unroll
      for (int j = i; j < i + 4; ++j) {
        const float both = row_offset[j / 2 % 2] + column.at[j % 2];
        tile[j] = fmaf(-2.0f, tile[j], both);
        // Collects the signs of all pairs; comparisons would cost twice as much.
        signs |= std::bit_cast<std::uint32_t>(beyond_border(tile[j], both));
      }
    }
    const bool close = any(LaneMask<1>{static_cast<std::int32_t>(signs) < 0});
    if (close) recompute_close(tile);
    return close;
  }

 private:
  /// Returns a negative number if the squared distance x is below close_share * both.
  CONELAB_TILE static float beyond_border(float x, float both) {
    return fmaf(-close_share<float>, both, x);
  }

  /// Recomputes the close pairs one at a time, because they are few. It finds them again, because
  /// remembering them would cost every pair. Offsets are read as volatile; otherwise the compiler
  /// would keep them in registers and spill others.
  CONELAB_TILE void recompute_close(float (&tile)[products]) const {
    const volatile float* offset = column_offset;
    std::uint64_t close = 0;
#pragma unroll
    for (int i = 0; i < products; ++i) {
      const float both = row_offset[i / 2 % 2] + offset[accumulator_column(thread, i)];
      close |= static_cast<std::uint64_t>(beyond_border(tile[i], both) < 0.0f) << i;
    }
#pragma unroll 1
    for (int i = 0; close != 0; ++i, close >>= 1) {
      if ((close & 1) == 0) continue;
      const float exact =
          distance2(accumulator_row(thread, i), first + accumulator_column(thread, i));
#pragma unroll
      for (int j = 0; j < products; ++j) tile[j] = j == i ? exact : tile[j];
    }
  }

  CONELAB_TILE static float number(TileBytes tile, int row, int column) {
    return Type::widen(
        *reinterpret_cast<const std::uint16_t*>(tile.data + swizzled(tile.rows, row, column)));
  }
  CONELAB_TILE float distance2(int row, int column) const {
    float total = 0;
#pragma unroll 1
    for (int i = 0; i < width; ++i) {
      const float difference = number(rows, row, i) - number(columns, column, i);
      total += difference * difference;
    }
    return total;
  }
};

}  // namespace conelab::gpu::hopper
