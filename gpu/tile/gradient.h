// The portable backward pass of one block: 64 columns of the gradients of 64 tokens of one side.
//
//   P_ij = weight,  W_ij = dL/d(measure_ij),
//   dq_i = 2 sum_j W_ij (q_i - k_j)  for squared distances,  sum_j W_ij k_j  for products,
//   dk_j = the same with the roles of q and k exchanged,  dv_j = sum_i P_ij dO_i.
//
// One block owns each token's gradient and visits the other side's tiles in their order, without
// atomics, so that equal input gives equal bits. The weights are therefore computed once for each
// side. Differences are taken before they are multiplied, so that close pairs do not cancel.
#pragma once

#include "gpu/tile/pair.h"

namespace conelab::gpu {

/// The side whose gradients a block computes.
enum class Owner { query, key };

/// The largest sum of S::constants and the number of bias parameters.
constexpr int max_sums = 8;

/// The pass for similarity S in numbers N on the block type `Block` (gpu/tile/block.h).
template <class S, class N, Owner owner, class Block>
class GradientTile {
 public:
  /// Returns the number of slices of 64 columns of the base.
  CONELAB_TILE static int base_slices(const Problem<N>& p) {
    return p.base_size <= tile_columns ? 1 : ceil_div(p.base_size, tile_columns);
  }
  /// Returns the number of slices; a block computes one. First come those of the base's columns,
  /// then, for keys, those of the value's columns.
  CONELAB_TILE static int slices(const Problem<N>& p) {
    return base_slices(p) + (owner == Owner::key ? ceil_div(p.width, tile_columns) : 0);
  }

  /// Computes the block at `place` and writes its part of `result`.
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p, const Upstream<N>& in,
                               const GradientResult<N>& result, const TilePlace& place,
                               SharedTile<N>& shared) {
    typename Block::template Local<State> locals;
    const Tile tile(p, in, place);
    block.phase([&](int thread) { start(thread, tile, locals[thread]); });
    const int tiles = ceil_div(tile.others().count, tile_columns);
    for (int t = 0; t < tiles; ++t) {
      const int column = t * tile_columns;
      if (!meets(p, tile, t)) continue;
      product_tile(block, shared, tile.own, tile.row, tile.other, column, p.base_size, locals,
                   &State::tile);
      if (!tile.of_value) {
        product_tile(block, shared, tile.own_value, tile.row, tile.other_value, column, p.width,
                     locals, &State::slope);
      }
      block.phase([&](int thread) { tail(thread, p, in, tile, column, shared, locals[thread]); });
      accumulate(block, tile, column, shared, locals);
    }
    write(block, p, result, tile, shared, locals);
  }

 private:
  static constexpr bool differences = S::info.measure == Measure::squared_distance;

  struct State {
    Fragment<N> tile, slope, own, sum;
    N potential[row_share];
    double sums[max_sums];
  };

  /// What all tiles of the block share.
  struct Tile {
    const Problem<N>* p;
    int group, batch, head, row, slice;
    bool of_value;  ///< Whether the slice belongs to the gradient of values.
    int column;     ///< The slice's first column, of base or value.
    Source own, other, own_value, other_value;

    CONELAB_TILE Tile(const Problem<N>& problem, const Upstream<N>& in, const TilePlace& place)
        : p(&problem),
          group(place.group),
          batch(place.group / problem.heads),
          head(place.group % problem.heads),
          row(place.block * tile_rows),
          slice(place.slice),
          of_value(place.slice >= base_slices(problem)),
          column((of_value ? place.slice - base_slices(problem) : place.slice) * tile_columns),
          own(base_of(problem, owns(problem), place.group)),
          other(base_of(problem, others(), place.group)) {
      const Source value = value_of(problem, place.group);
      const Source upstream{
          in.output_grad,
          sizeof(N) == 8 ? Storage::f64 : Storage::f32,
          static_cast<std::int64_t>(place.group) * problem.query.count * problem.width,
          problem.width,
          problem.query.count,
          problem.width};
      own_value = owner == Owner::query ? upstream : value;
      other_value = owner == Owner::query ? value : upstream;
    }
    CONELAB_TILE static const Side<N>& owns(const Problem<N>& p) {
      return owner == Owner::query ? p.query : p.key;
    }
    CONELAB_TILE const Side<N>& others() const { return owner == Owner::query ? p->key : p->query; }
    /// Returns whether this block sums the gradients of parameters: the first slice of queries
    /// does.
    CONELAB_TILE bool sums_parameters() const { return owner == Owner::query && slice == 0; }
  };

  /// Returns whether any pair of the block and the other side's tile t is seen.
  CONELAB_TILE static bool meets(const Problem<N>& p, const Tile& tile, int t) {
    const int blocks = ceil_div(p.query.count, tile_rows);
    const int query_block = owner == Owner::query ? tile.row / tile_rows : t;
    const int key = owner == Owner::query ? t * tile_columns : tile.row;
    const KeySpan span = p.block_span[tile.batch * blocks + query_block].any;
    return span.begin < key + tile_columns && key < span.end;
  }

  CONELAB_TILE static void start(int thread, const Tile& tile, State& s) {
    clear(s.sum);
    clear(s.own);
    clear(s.slope);
#pragma unroll
    for (int i = 0; i < row_share; ++i) s.potential[i] = N(0);
    for (double& sum : s.sums) sum = 0;
    if constexpr (differences) {
      if (tile.of_value) return;
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
#pragma unroll
        for (int j = 0; j < column_share; ++j) {
          s.own.at[i][j] = element<N>(tile.own, tile.row + row_of(thread, i),
                                      tile.column + column_of(thread, j));
        }
      }
    }
  }

  /// Computes the factors of `accumulate` from products: W, or P for slices of values.
  CONELAB_TILE static void tail(int thread, const Problem<N>& p, const Upstream<N>& in,
                                const Tile& tile, int column, SharedTile<N>& shared, State& s) {
    const Side<N>& owns = Tile::owns(p);
    measure_pairs<S>(thread, p, tile.group, owns, tile.row, tile.others(), column, s.tile);
    TokenValues<S, N> own[row_share];
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      own[i] = token_values<S>(owns, tile.group, tile.row + row_of(thread, i));
    }
    N sums[max_sums] = {};
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
      const int c = column + column_of(thread, j);
      const TokenValues<S, N> other = token_values<S>(tile.others(), tile.group, c);
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        const int r = tile.row + row_of(thread, i);
        const int query = owner == Owner::query ? r : c;
        const int key = owner == Owner::query ? c : r;
        N factor = N(0);
        if (sees(p, tile.batch, query, key)) {
          const N* q = owner == Owner::query ? own[i].at : other.at;
          const N* k = owner == Owner::query ? other.at : own[i].at;
          factor = pair(p, in, tile, {query, key}, s.tile.at[i][j], s.slope.at[i][j], q, k,
                        s.potential[i], sums);
        }
        shared.weights[column_of(thread, j)][row_of(thread, i)] = factor;
      }
    }
    if (!tile.sums_parameters()) return;
    for (int n = 0; n < max_sums; ++n) s.sums[n] += static_cast<double>(sums[n]);
  }

  struct Pair {
    int query, key;
  };

  /// Computes one pair that is seen. Returns its factor, and adds to the owner's potential and to
  /// the sums of the parameters.
  CONELAB_TILE static N pair(const Problem<N>& p, const Upstream<N>& in, const Tile& tile, Pair at,
                             N measure, N weight_slope, const N* q, const N* k, N& potential,
                             N* sums) {
    const N* constants = p.constants + tile.head * S::constants;
    const Slope<N, S::constants> slope = S::slope(measure, q, k, constants);
    const N logit = slope.logit + bias_of(p, tile.head, at.query, at.key);
    const std::int64_t i = static_cast<std::int64_t>(tile.group) * p.query.count + at.query;
    const N weight =
        p.sigmoid ? sigmoid(logit) : exponential(logit - in.reference[i]) * in.inverse_sum[i];
    if (tile.of_value) return weight;
    const N by_weight = weight_slope +
                        p.value_mark[static_cast<std::int64_t>(tile.group) * p.key.count + at.key] -
                        (p.sigmoid ? N(0) : in.delta[i]);
    const N by_logit = p.sigmoid ? weight * (N(1) - weight) * by_weight : weight * by_weight;
    potential += by_logit * (owner == Owner::query ? slope.query : slope.key);
    if (tile.sums_parameters()) {
      for (int n = 0; n < S::constants; ++n) sums[n] += by_logit * slope.constant[n];
#pragma unroll
      for (int b = 0; b < max_sums - S::constants; ++b) {
        if (b >= p.bias_slopes) continue;
        sums[S::constants + b] += by_logit * bias_slope_of(p, tile.head, b, at.query, at.key);
      }
    }
    return by_logit * slope.x;
  }

  template <class Locals>
  CONELAB_TILE static void accumulate(const Block& block, const Tile& tile, int column,
                                      SharedTile<N>& shared, Locals& locals) {
    const Source right = tile.of_value ? tile.other_value : tile.other;
    for (int step = 0; step < tile_columns; step += tile_steps) {
      block.phase([&](int thread) {
        load_direct(thread, right, column + step, tile.column, shared.columns);
      });
      block.phase([&](int thread) {
        State& s = locals[thread];
        if (!differences || tile.of_value) {
          multiply(thread, shared.weights + step, shared.columns, s.sum);
        } else {
          multiply_difference(thread, shared.weights + step, shared.columns, s.own, s.sum);
        }
      });
    }
  }

  template <class Locals>
  CONELAB_TILE static void write(const Block& block, const Problem<N>& p,
                                 const GradientResult<N>& result, const Tile& tile,
                                 SharedTile<N>& shared, Locals& locals) {
    block.phase([&](int thread) {
      write_sums(thread, p, result, tile, locals[thread].sum);
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        shared.partial[thread % row_threads][row_of(thread, i)] = locals[thread].potential[i];
      }
    });
    block.phase([&](int thread) { write_potential(thread, p, result, tile, shared); });
    if (!tile.sums_parameters()) return;
#pragma unroll
    for (int n = 0; n < max_sums; ++n) {
      if (n >= S::constants + p.bias_slopes) continue;
      block.phase([&](int thread) { shared.sums[thread] = locals[thread].sums[n]; });
      block.phase([&](int thread) { write_parameter(thread, n, p, result, tile, shared); });
    }
  }

  CONELAB_TILE static void write_sums(int thread, const Problem<N>& p,
                                      const GradientResult<N>& result, const Tile& tile,
                                      const Fragment<N>& sum) {
    N* to = tile.of_value           ? result.value
            : owner == Owner::query ? result.query_base
                                    : result.key_base;
    const int size = tile.of_value ? p.width : p.base_size;
    const int count = Tile::owns(p).count;
    const bool doubled = differences && !tile.of_value;
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = tile.row + row_of(thread, i);
#pragma unroll
      for (int j = 0; j < column_share; ++j) {
        const int c = tile.column + column_of(thread, j);
        if (r >= count || c >= size) continue;
        to[(static_cast<std::int64_t>(tile.group) * count + r) * size + c] =
            doubled ? N(2) * sum.at[i][j] : sum.at[i][j];
      }
    }
  }

  CONELAB_TILE static void write_potential(int thread, const Problem<N>& p,
                                           const GradientResult<N>& result, const Tile& tile,
                                           const SharedTile<N>& shared) {
    const int count = Tile::owns(p).count;
    const int r = tile.row + thread;
    if (tile.slice != 0 || thread >= tile_rows || r >= count) return;
    N sum = N(0);
    for (int t = 0; t < row_threads; ++t) sum += shared.partial[t][thread];
    N* to = owner == Owner::query ? result.query_potential : result.key_potential;
    to[static_cast<std::int64_t>(tile.group) * count + r] = sum;
  }

  CONELAB_TILE static void write_parameter(int thread, int n, const Problem<N>& p,
                                           const GradientResult<N>& result, const Tile& tile,
                                           const SharedTile<N>& shared) {
    if (thread != 0) return;
    double sum = 0;
    for (int t = 0; t < tile_threads; ++t) sum += shared.sums[t];
    const int blocks = ceil_div(p.query.count, tile_rows);
    const std::int64_t at = static_cast<std::int64_t>(tile.group) * blocks + tile.row / tile_rows;
    result.sums[at * (S::constants + p.bias_slopes) + n] = sum;
  }
};

}  // namespace conelab::gpu
