// Squared distances of a thread's pairs from their products, in place; close pairs are recomputed
// from the tiles in shared memory.
//
// The warp votes once a tile, not once for a few pairs: a vote takes three instructions and parts
// the stream that the compiler can interleave, and the code that mends is there once.
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

template <class Type, int width, int products>
struct SquaredDistances {
  int thread;
  const float (&row_offset)[2];  ///< Squared norms of the thread's two rows.
  const float* column_offset;    ///< [columns] 8-byte aligned
  TileBytes rows, columns;
  int first;  ///< Row of `columns` that is the products' first column.

  /// |u|^2 + |v|^2 - 2 u v. A difference below zero is below the border too: it is mended, and
  /// needs no bound.
  CONELAB_TILE void replace(float (&tile)[products]) const {
    std::uint32_t signs = 0;
#pragma unroll
    for (int i = 0; i < products; i += 4) {
      const Lanes<2> column =
          load_pairs<2>([&](int l) { return column_offset + accumulator_column(thread, i + l); });
#pragma unroll
      for (int j = i; j < i + 4; ++j) {
        const float both = row_offset[j / 2 % 2] + column.at[j % 2];
        tile[j] = fmaf(-2.0f, tile[j], both);
        // The signs of all together, as a comparison would cost twice as much.
        signs |= std::bit_cast<std::uint32_t>(beyond_border(tile[j], both));
      }
    }
    if (any(LaneMask<1>{static_cast<std::int32_t>(signs) < 0})) mend(tile);
  }

 private:
  CONELAB_TILE static float beyond_border(float x, float both) {
    return fmaf(-close_share<float>, both, x);
  }

  /// One at a time: they are few. Which ones is found out again, as remembering costs every pair;
  /// offsets are read as volatile, or the compiler would remember them by itself, and spill others.
  CONELAB_TILE void mend(float (&tile)[products]) const {
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
