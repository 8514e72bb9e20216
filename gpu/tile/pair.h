// Holds what a portable tile computes for its pairs: their measures and their biases.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "core/similarity/number.h"
#include "core/similarity/similarity.h"
#include "gpu/tile/visit.h"

namespace conelab::gpu {

/// A pair is close if its squared distance is below this share of the sum of the squared norms. Its
/// distance is then computed from differences of the coordinates rounded to the storage type. (The
/// CPU rounds coordinates to the type of its arithmetic instead.)
template <class N>
constexpr N close_share = N(1) / N(16);

/// Return the base coordinates of a side, and the values, as matrices of one group.
template <class N>
CONELAB_TILE Source base_of(const Problem<N>& p, const Side<N>& side, int group) {
  return {side.base,     p.storage,  side.of(group) * side.count * p.base_stride,
          p.base_stride, side.count, p.base_stride};
}
template <class N>
CONELAB_TILE Source value_of(const Problem<N>& p, int group) {
  return {p.value, p.storage,   p.key.of(group) * p.key.count * p.width,
          p.width, p.key.count, p.width};
}

/// Return the two halves of the columns of `base`, for Measure::tanh_sum.
CONELAB_TILE Source first_half(Source base) {
  base.columns /= 2;
  return base;
}
CONELAB_TILE Source second_half(Source base) {
  base.columns /= 2;
  base.first += base.columns;
  return base;
}

/// Return the tokens of the block's rows and those of its columns.
template <Owner owner, class N>
CONELAB_TILE const Side<N>& row_side(const Problem<N>& p) {
  return owner == Owner::query ? p.query : p.key;
}
template <Owner owner, class N>
CONELAB_TILE const Side<N>& column_side(const Problem<N>& p) {
  return owner == Owner::query ? p.key : p.query;
}

/// Returns the offset of a token, 0 beyond the last.
template <class N>
CONELAB_TILE N offset_of(const Side<N>& side, int group, int row) {
  return row < side.count ? side.offset[side.of(group) * side.count + row] : N(0);
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

/// Return tanh x and log x.
CONELAB_TILE float hyperbolic_tangent(float x) { return ::tanhf(x); }
CONELAB_TILE double hyperbolic_tangent(double x) { return ::tanh(x); }
CONELAB_TILE float logarithm(float x) { return ::logf(x); }
CONELAB_TILE double logarithm(double x) { return ::log(x); }

/// Adds Measure::tanh_sum of the block's rows and the tile's columns. The arguments are those of
/// `product_tile`; the arrays of shared memory hold q and k, and the weights of the keys.
template <Owner owner, class N, class Block, class Locals, class Member>
CONELAB_TILE void tanh_tile(const Block& block, SharedTile<N>& shared, const Source& a, int row,
                            const Source& b, Locals& locals, Member member) {
  const Source rows = first_half(a), columns = first_half(b);
  for (int step = 0; step < rows.columns; step += tile_steps) {
    block.phase([&](int thread) {
      load_by_token(thread, rows, Successive{row}, step, shared.rows);
      load_by_token(thread, columns, shared.token, step, shared.columns);
      for (int at = thread; at < tile_steps * tile_rows; at += tile_threads) {
        const int s = at % tile_steps, r = at / tile_steps;
        shared.weights[s][r] = owner == Owner::query
                                   ? element<N>(second_half(b), shared.token[r], step + s)
                                   : element<N>(second_half(a), row + r, step + s);
      }
    });
    block.phase([&](int thread) {
      const auto add = [&](int s, int i, int j) {
        const int r = row_of(thread, i), c = column_of(thread, j);
        const N weight = shared.weights[s][owner == Owner::query ? c : r];
        (locals[thread].*member).at[i][j] +=
            weight * hyperbolic_tangent(shared.rows.of_token(r, s) + shared.columns.of_token(c, s));
      };
      for (int s = 0; s < tile_steps; ++s) {
#pragma unroll
        for (int i = 0; i < row_share; ++i) {
#pragma unroll
          for (int j = 0; j < column_share; ++j) add(s, i, j);
        }
      }
    });
  }
}

/// The values of one token for the similarity.
template <class S, class N>
struct TokenValues {
  N at[S::values > 0 ? S::values : 1];
};
/// Returns those of a token, zeros beyond the last.
template <class S, class N>
CONELAB_TILE TokenValues<S, N> token_values(const Side<N>& side, int group, int row) {
  TokenValues<S, N> values = {};
  if (row >= side.count) return values;
  for (int v = 0; v < S::values; ++v) {
    values.at[v] = side.values[(side.of(group) * S::values + v) * side.count + row];
  }
  return values;
}

/// Stores the offset and the values of the token that belongs to this thread, as the first facts
/// of a side of the tile.
template <class S, class N>
CONELAB_TILE void load_facts(int thread, const Side<N>& side, int group, int token,
                             N (*facts)[tile_rows]) {
  static_assert(1 + S::values + 4 <= most_facts);
  facts[0][thread] = offset_of(side, group, token);
  const TokenValues<S, N> values = token_values<S>(side, group, token);
  for (int v = 0; v < S::values; ++v) facts[1 + v][thread] = values.at[v];
}
/// Returns the values of row or column `at` of the tile.
template <class S, class N>
CONELAB_TILE TokenValues<S, N> values_at(const N (*facts)[tile_rows], int at) {
  TokenValues<S, N> values = {};
#pragma unroll
  for (int v = 0; v < S::values; ++v) values.at[v] = facts[1 + v][at];
  return values;
}

/// Replaces the products of a thread's pairs by the measures of the similarity. Returns a mask of
/// the pairs that are close.
template <class S, Owner owner, class N>
CONELAB_TILE std::uint32_t finish_measures(int thread, const Problem<N>& p, int group, int row,
                                           const SharedTile<N>& shared, Fragment<N>& tile) {
  std::uint32_t close = 0;
#pragma unroll
  for (int j = 0; j < column_share; ++j) {
    const N column_offset = shared.column_facts[0][column_of(thread, j)];
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const N both = shared.row_facts[0][row_of(thread, i)] + column_offset;
      N& x = tile.at[i][j];
      if constexpr (S::info.measure == Measure::squared_distance) {
        x = max(N(0), both - N(2) * x);
        if (x < close_share<N> * both) close |= 1u << bit_of(i, j);
      } else {
        x += both;
      }
    }
  }
  if (close == 0) return 0;
  // Few pairs are close: their distances are computed in a loop that is not unrolled.
  const Source a = base_of(p, row_side<owner>(p), group);
  const Source b = base_of(p, column_side<owner>(p), group);
  N direct[row_share * column_share];
#pragma unroll 1
  for (int e = 0; e < row_share * column_share; ++e) {
    const int r = row + row_of(thread, e % row_share);
    const int c = shared.token[column_of(thread, e / row_share)];
    if (r >= a.rows || c >= b.rows) close &= ~(1u << e);
    direct[e] = (close >> e & 1) != 0 ? direct_distance2<N>(a, r, b, c) : N(0);
  }
#pragma unroll
  for (int j = 0; j < column_share; ++j) {
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      if ((close >> bit_of(i, j) & 1) != 0) tile.at[i][j] = direct[bit_of(i, j)];
    }
  }
  return close;
}

/// Returns the index of a pair in an array over relative positions, j - i + n_q - 1.
template <class N>
CONELAB_TILE std::int64_t relative(const Problem<N>& p, int query, int key) {
  return key - query + p.query.count - 1;
}
/// Returns the class of a pair's relative position.
template <class N>
CONELAB_TILE int class_of(const Problem<N>& p, int head, int query, int key) {
  const std::int64_t length = p.query.count + p.key.count - 1;
  return p.class_of[head * length + relative(p, query, key)];
}
/// Returns the number of a pair in an array [group × n_q × classes].
template <class N>
CONELAB_TILE N of_class(const Problem<N>& p, const N* numbers, int group, int query, int key) {
  const std::int64_t row = static_cast<std::int64_t>(group) * p.query.count + query;
  return numbers[row * p.classes + class_of(p, group % p.heads, query, key)];
}

/// Returns the sum over the axes of one head's table [bias_size].
template <class N>
CONELAB_TILE N over_axes(const Problem<N>& p, const N* table, int query, int key) {
  N sum = N(0);
  for (int a = 0; a < p.axes; ++a) {
    sum += table[p.key_place[key * p.axes + a] - p.query_place[query * p.axes + a]];
  }
  return sum;
}
/// Return the bias of a pair (0 if the call has none) and its derivative by a bias parameter.
template <class N>
CONELAB_TILE N bias_of(const Problem<N>& p, int group, int query, int key) {
  N sum = N(0);
  if (p.axes > 0) {
    sum =
        over_axes(p, p.bias + static_cast<std::int64_t>(group % p.heads) * p.bias_size, query, key);
  }
  if (p.class_bias != nullptr) sum += of_class(p, p.class_bias, group, query, key);
  return sum;
}
template <class N>
CONELAB_TILE N bias_slope_of(const Problem<N>& p, int head, int parameter, int query, int key) {
  const std::int64_t table = static_cast<std::int64_t>(head) * p.bias_slopes + parameter;
  return over_axes(p, p.bias_slope + table * p.bias_size, query, key);
}

/// Returns what the softmax over queries subtracts from the logits of a key. If all of them are
/// -infinity, so are the differences.
template <class N>
CONELAB_TILE N column_shift(const Problem<N>& p, const N* column_lse, int group, int key) {
  const N lse = column_lse[static_cast<std::int64_t>(group) * p.key.count + key];
  return lse == -std::numeric_limits<N>::infinity() ? N(0) : lse;
}

/// Returns whether logits are not those of the similarity alone: there is a bias, or the
/// log-sum-exp of their key is subtracted.
template <class N>
CONELAB_TILE bool has_addend(const Problem<N>& p) {
  return p.axes > 0 || p.class_bias != nullptr || p.over_queries;
}

/// Stores what is added to the logits of a thread's pairs in SharedTile::weights. `column_lse` is
/// null if nothing is subtracted. The loop is not unrolled, because most calls do not need it.
template <Owner owner, class N>
CONELAB_TILE void store_addends(int thread, const Problem<N>& p, const TilePlace& place,
                                const N* column_lse, SharedTile<N>& shared) {
#pragma unroll 1
  for (int e = 0; e < row_share * column_share; ++e) {
    const int r = row_of(thread, e % row_share), c = column_of(thread, e / row_share);
    const int row = place.block * tile_rows + r, column = shared.token[c];
    const int query = owner == Owner::query ? row : column;
    const int key = owner == Owner::query ? column : row;
    if (query >= p.query.count || key >= p.key.count) continue;
    N sum = bias_of(p, place.group, query, key);
    if (column_lse != nullptr) sum -= column_shift(p, column_lse, place.group, key);
    shared.weights[c][r] = sum;
  }
}

/// Adds the products of a tile's pairs to the fragment `member`, or their sums of tanh, which
/// `finish_measures` makes measures. Writes biases and masks to
/// SharedTile::weights if `has_addend`.
template <class S, Owner owner, class N, class Block, class Locals, class Member>
CONELAB_TILE void measure_tile(const Block& block, SharedTile<N>& shared, const Problem<N>& p,
                               const TilePlace& place, const N* column_lse, Locals& locals,
                               Member member) {
  const Source rows = base_of(p, row_side<owner>(p), place.group);
  const Source columns = base_of(p, column_side<owner>(p), place.group);
  const int row = place.block * tile_rows;
  if constexpr (S::info.measure == Measure::tanh_sum) {
    tanh_tile<owner>(block, shared, rows, row, columns, locals, member);
  } else {
    product_tile(block, shared, rows, row, columns, locals, member);
  }
  if (has_addend(p)) {
    block.phase([&](int thread) { store_addends<owner>(thread, p, place, column_lse, shared); });
  }
}

/// Returns 2^x; on the device denormal numbers count as 0.
CONELAB_TILE float fast_exp2(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::exp2(x);
#endif
}

constexpr float log2e = 1.44269504088896341f;
/// Return e^x. A float's relative error on the device is about 2^-22 + 1.3 |x| 2^-24; the second
/// part is about that of a logit as large as x.
CONELAB_TILE float exponential(float x) { return fast_exp2(x * log2e); }
CONELAB_TILE double exponential(double x) { return ::exp(x); }

/// Return the larger number, the other one if one is NaN.
CONELAB_TILE float larger(float a, float b) { return ::fmaxf(a, b); }
CONELAB_TILE double larger(double a, double b) { return ::fmax(a, b); }

/// Returns e^-reference / (1 + e^-logit), which neither overflows nor underflows near the largest
/// logit if the reference is that logit or 0, whichever is smaller.
template <class N>
CONELAB_TILE N sigmoid(N logit, N reference) {
  return N(1) / (exponential(reference) + exponential(reference - logit));
}

}  // namespace conelab::gpu
