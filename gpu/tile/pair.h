// What a portable tile computes for a single pair: its measure (product or squared distance),
// whether the query sees the key, and its bias.
#pragma once

#include <cmath>
#include <cstddef>

#include "core/similarity/number.h"
#include "core/similarity/similarity.h"
#include "gpu/tile/product.h"

namespace conelab::gpu {

/// A pair is close if its squared distance is below this share of the sum of the squared norms. Its
/// distance is then computed from differences of the coordinates rounded to the storage type. (The
/// CPU rounds coordinates to the type of its arithmetic instead.)
template <class N>
constexpr N close_share = N(1) / N(16);

/// Return the base coordinates of a side, and the values, as matrices of one group.
template <class N>
CONELAB_TILE Source base_of(const Problem<N>& p, const Side<N>& side, int group) {
  return {side.base,   p.storage,  static_cast<std::int64_t>(group) * side.count * p.base_size,
          p.base_size, side.count, p.base_size};
}
template <class N>
CONELAB_TILE Source value_of(const Problem<N>& p, int group) {
  return {p.value, p.storage,   static_cast<std::int64_t>(group) * p.key.count * p.width,
          p.width, p.key.count, p.width};
}

/// Returns the offset of a token, 0 beyond the last.
template <class N>
CONELAB_TILE N offset_of(const Side<N>& side, int group, int row) {
  return row < side.count ? side.offset[static_cast<std::int64_t>(group) * side.count + row] : N(0);
}

/// Returns |a - b|^2 of two rows, computed from differences.
template <class N>
CONELAB_TILE N direct_distance2(const Source& a, int row, const Source& b, int column) {
  N sum = N(0);
  for (int c = 0; c < a.columns; ++c) {
    const N difference = element<N>(a, row, c) - element<N>(b, column, c);
    sum += difference * difference;
  }
  return sum;
}

/// Replaces the products of a thread's pairs by the measures of the similarity.
template <class S, class N>
CONELAB_TILE void measure_pairs(int thread, const Problem<N>& p, int group, const Side<N>& rows,
                                int row, const Side<N>& columns, int column, Fragment<N>& tile) {
  const Source a = base_of(p, rows, group);
  const Source b = base_of(p, columns, group);
#pragma unroll
  for (int j = 0; j < column_share; ++j) {
    const int c = column + column_of(thread, j);
    const N column_offset = offset_of(columns, group, c);
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = row + row_of(thread, i);
      const N both = offset_of(rows, group, r) + column_offset;
      N& x = tile.at[i][j];
      if constexpr (S::info.measure == Measure::squared_distance) {
        x = max(N(0), both - N(2) * x);
        if (x < close_share<N> * both && r < a.rows && c < b.rows) {
          x = direct_distance2<N>(a, r, b, c);
        }
      } else {
        x += both;
      }
    }
  }
}

/// The values of one token for the similarity; zeros beyond the last token.
template <class S, class N>
struct TokenValues {
  N at[S::values > 0 ? S::values : 1];
};
template <class S, class N>
CONELAB_TILE TokenValues<S, N> token_values(const Side<N>& side, int group, int row) {
  TokenValues<S, N> values = {};
  if (row >= side.count) return values;
  for (int v = 0; v < S::values; ++v) {
    values.at[v] =
        side.values[(static_cast<std::int64_t>(group) * S::values + v) * side.count + row];
  }
  return values;
}

/// Returns whether the query sees the key; false beyond the last query or key.
template <class N>
CONELAB_TILE bool sees(const Problem<N>& p, int batch, int query, int key) {
  if (query >= p.query.count || key >= p.key.count) return false;
  const KeySpan span = p.span[static_cast<std::int64_t>(batch) * p.query.count + query];
  if (key < span.begin || key >= span.end) return false;
  return p.allowed == nullptr ||
         p.allowed[static_cast<std::int64_t>(query) * p.key.count + key] != 0;
}

/// Returns the index of a pair in a head's tables of relative positions, j - i + n_q - 1.
template <class N>
CONELAB_TILE std::int64_t relative(const Problem<N>& p, int query, int key) {
  return key - query + p.query.count - 1;
}
/// Return the bias of a pair (0 if the call has none) and its derivative by a bias parameter.
template <class N>
CONELAB_TILE N bias_of(const Problem<N>& p, int head, int query, int key) {
  if (p.bias == nullptr) return N(0);
  const std::int64_t length = p.query.count + p.key.count - 1;
  return p.bias[head * length + relative(p, query, key)];
}
template <class N>
CONELAB_TILE N bias_slope_of(const Problem<N>& p, int head, int parameter, int query, int key) {
  const std::int64_t length = p.query.count + p.key.count - 1;
  return p.bias_slope[(head * p.bias_slopes + parameter) * length + relative(p, query, key)];
}

/// Return e^x.
CONELAB_TILE float exponential(float x) { return ::expf(x); }
CONELAB_TILE double exponential(double x) { return ::exp(x); }

/// Returns 1 / (1 + e^-logit).
template <class N>
CONELAB_TILE N sigmoid(N logit) {
  return N(1) / (N(1) + exponential(-logit));
}

}  // namespace conelab::gpu
