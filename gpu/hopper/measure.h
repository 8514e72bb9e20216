// The measures of several pairs of one row from their products, close pairs recomputed from the
// tiles in shared memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/similarity/similarity.h"
#include "gpu/hopper/lanes.h"
#include "gpu/hopper/layout.h"
#include "gpu/tile/pair.h"

namespace conelab::gpu::hopper {

/// A swizzled tile of 16-bit numbers in shared memory.
struct TileBytes {
  const unsigned char* data;
  int rows;
};

template <class S, class Type, int width, int lanes>
struct PairMeasure {
  using N = Lanes<lanes>;

  /// `column(l)` is lane l's row in `columns`.
  template <class Column>
  CONELAB_TILE static N of(N product, float row_offset, N column_offset, TileBytes rows, int row,
                           TileBytes columns, Column column) {
    const N both = N(row_offset) + column_offset;
    if constexpr (S::info.measure == Measure::product) {
      return product + both;
    } else {
      // A difference below zero is below the border too: it is mended, and needs no bound.
      N x = N::make([&](int l) { return fmaf(-2.0f, product.at[l], both.at[l]); });
      if (has_close(x, both)) mend(rows, row, columns, column, both, x);
      return x;
    }
  }

 private:
  CONELAB_TILE static float beyond_border(float x, float both) {
    return fmaf(-close_share<float>, both, x);
  }

  /// Any of the warp's pairs: the signs of all together, as a comparison would cost twice as much.
  CONELAB_TILE static bool has_close(const N& x, const N& both) {
    std::uint32_t signs = 0;
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
      signs |= std::bit_cast<std::uint32_t>(beyond_border(x.at[i], both.at[i]));
    }
    return any(LaneMask<1>{static_cast<std::int32_t>(signs) < 0});
  }

  /// One at a time: they are few. Which ones is found out again, as remembering costs every pair.
  template <class Column>
  CONELAB_TILE static void mend(TileBytes rows, int row, TileBytes columns, Column column,
                                const N& both, N& x) {
#pragma unroll 1
    for (int l = 0; l < lanes; ++l) {
      bool chosen = false;
#pragma unroll
      for (int i = 0; i < lanes; ++i) {
        chosen |= i == l && beyond_border(x.at[i], both.at[i]) < 0.0f;
      }
      if (!chosen) continue;
      const float exact = distance2(rows, row, columns, column(l));
#pragma unroll
      for (int i = 0; i < lanes; ++i) x.at[i] = i == l ? exact : x.at[i];
    }
  }

  CONELAB_TILE static float number(TileBytes tile, int row, int column) {
    return Type::widen(
        *reinterpret_cast<const std::uint16_t*>(tile.data + swizzled(tile.rows, row, column)));
  }
  CONELAB_TILE static float distance2(TileBytes rows, int row, TileBytes columns, int column) {
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
