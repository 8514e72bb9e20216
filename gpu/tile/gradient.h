// The portable backward pass of one block: 64 columns of the gradients of 64 tokens of one side.
//
//   P_ij = weight,  W_ij = dL/d(measure_ij),
//   dq_i = 2 sum_j W_ij (q_i - k_j)  for squared distances,  sum_j W_ij k_j  for products,
//   dk_j = the same with the roles of q and k exchanged,  dv_j = sum_i P_ij dO_i.
//
// For Measure::tanh_sum, with t = tanh(q_if + k_jf) and the keys' weights u_jf,
//
//   dq_if = sum_j W_ij u_jf (1 - t^2),  dk_jf = u_jf sum_i W_ij (1 - t^2),  du_jf = sum_i W_ij t.
//
// One block owns each token's gradient and visits the other side's tiles in their order, without
// atomics, so that equal input gives equal bits. The weights are therefore computed once for each
// side. For squared distances q_i sum_j W_ij and sum_j W_ij k_j are summed apart, but differences
// of close pairs are taken before they are multiplied, so that they do not cancel.
#pragma once

#include "gpu/tile/classes.h"

namespace conelab::gpu {

/// The pass for similarity S in numbers N on the block type `Block` (gpu/tile/block.h).
template <class S, class N, Owner owner, class Block>
class GradientTile {
 public:
  /// Returns the number of slices of 64 columns of the base. No slice has columns of both halves
  /// for Measure::tanh_sum.
  CONELAB_TILE static int base_slices(const Problem<N>& p) {
    const int columns = tanh_sum ? p.base_size / 2 : p.base_size;
    const int own = columns <= tile_columns ? 1 : ceil_div(columns, tile_columns);
    return tanh_sum ? 2 * own : own;
  }
  /// Returns the number of slices; a block computes one. First come those of the base's columns,
  /// then, for keys, those of the value's columns, and for queries, that of the sums of weights by
  /// class, if these are wanted.
  CONELAB_TILE static int slices(const Problem<N>& p) {
    const int more = owner == Owner::key ? ceil_div(p.width, tile_columns) : p.sums_weights ? 1 : 0;
    return base_slices(p) + more;
  }

  /// Computes the block at `place` and writes its part of `result`.
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p, const Upstream<N>& in,
                               const GradientResult<N>& result, const TilePlace& place,
                               SharedTile<N>& shared) {
    typename Block::template Local<State> locals;
    const Tile tile(p, in, result, place);
    block.phase([&](int thread) {
      start(locals[thread]);
      if (thread < tile_rows) {
        load_side<owner == Owner::query>(thread, p, in, tile, tile.row + thread, shared.row_facts);
      }
      if (tile.of_class_weights()) clear_classes(thread, p, place, result.class_weight);
      if (tile.sums_slopes()) clear_classes(thread, p, place, result.class_slope);
    });
    const Visit visit = visit_of<owner>(p, tile.group, place.block);
    for (int at = visit.begin; at < visit.end && !tile.vanishes(); at += tile_columns) {
      if (!meets<owner>(p, visit, tile.batch, place.block, at)) continue;
      const bool whole = is_whole<owner>(p, visit, tile.batch, place.block, at);
      block.phase([&](int thread) {
        clear(locals[thread].tile);
        clear(locals[thread].slope);
        if (thread >= tile_columns) return;
        find_tokens(thread, visit, at, shared);
        load_side<owner == Owner::key>(thread, p, in, tile, shared.token[thread],
                                       shared.column_facts);
      });
      measure_tile<S, owner>(block, shared, p, place, in.column_lse, locals, &State::tile);
      if (!tile.of_weights) {
        product_tile(block, shared, tile.own_value, tile.row, tile.other_value, locals,
                     &State::slope);
      }
      block.phase([&](int thread) {
        const std::uint32_t seen =
            whole ? ~0u : seen_pairs<owner>(p, visit, shared, tile.batch, place.block, thread);
        tail(thread, p, in, tile, seen, shared, locals[thread]);
      });
      if (tile.sums_biases()) sum_biases(block, p, result, tile, shared, locals);
      if (tile.of_class_weights()) {
        block.phase(
            [&](int thread) { add_classes(thread, p, place, shared, result.class_weight); });
      } else {
        accumulate(block, tile, shared, locals);
      }
    }
    if (!tile.of_class_weights()) write(block, p, result, tile, shared, locals);
  }

 private:
  static constexpr bool differences = S::info.measure == Measure::squared_distance;
  static constexpr bool tanh_sum = S::info.measure == Measure::tanh_sum;

  struct State {
    Fragment<N> tile, slope, sum;
    N total[row_share];  ///< The sums of W over pairs that are not close.
    N potential[row_share];
    double sums[S::constants + max_slopes];
  };

  /// Holds what all tiles of the block share.
  struct Tile {
    const Problem<N>* p;
    TilePlace place;
    int group, batch, head, row;
    bool of_weights;  ///< Whether the slice is one of weights, not of the base's gradient.
    bool second;      ///< Whether the slice belongs to the second half of the base's columns.
    int column;       ///< The slice's first column, of its half of the base, or of the value.
    Source own, other, own_value, other_value;
    const N* column_delta;  ///< GradientResult::column_delta

    CONELAB_TILE Tile(const Problem<N>& problem, const Upstream<N>& in,
                      const GradientResult<N>& result, const TilePlace& at)
        : p(&problem),
          place(at),
          group(at.group),
          batch(at.group / problem.heads),
          head(at.group % problem.heads),
          row(at.block * tile_rows),
          of_weights(at.slice >= base_slices(problem)),
          second(tanh_sum && !of_weights && at.slice >= base_slices(problem) / 2),
          column(tile_columns * (of_weights ? at.slice - base_slices(problem)
                                 : second   ? at.slice - base_slices(problem) / 2
                                            : at.slice)),
          own(base_of(problem, row_side<owner>(problem), at.group)),
          other(base_of(problem, column_side<owner>(problem), at.group)),
          column_delta(result.column_delta) {
      const Source value = value_of(problem, at.group);
      const Source upstream{
          in.output_grad,
          sizeof(N) == 8 ? Storage::f64 : Storage::f32,
          static_cast<std::int64_t>(at.group) * problem.query.count * problem.width,
          problem.width,
          problem.query.count,
          problem.width};
      own_value = owner == Owner::query ? upstream : value;
      other_value = owner == Owner::query ? value : upstream;
    }
    [[nodiscard]] CONELAB_TILE bool of_class_weights() const {
      return owner == Owner::query && of_weights;
    }
    /// Returns whether this block sums the gradients of parameters: the first slice of queries
    /// does.
    [[nodiscard]] CONELAB_TILE bool sums_parameters() const {
      return owner == Owner::query && place.slice == 0;
    }
    [[nodiscard]] CONELAB_TILE bool sums_slopes() const {
      return sums_parameters() && p->sums_slopes;
    }
    [[nodiscard]] CONELAB_TILE bool sums_biases() const {
      return sums_parameters() && (p->sums_slopes || p->bias_slopes > 0);
    }
    /// Returns whether the slice's gradient is 0: no measure depends on a query's second half.
    [[nodiscard]] CONELAB_TILE bool vanishes() const { return owner == Owner::query && second; }
  };

  CONELAB_TILE static void start(State& s) {
    clear(s.sum);
#pragma unroll
    for (int i = 0; i < row_share; ++i) s.total[i] = s.potential[i] = N(0);
    for (double& sum : s.sums) sum = 0;
  }

  /// A query's facts after its values are what Upstream says of it, a key's the mark of its value,
  /// and its column_delta.
  static constexpr int of_query = 1 + S::values, of_key = 1 + S::values;

  /// Stores the facts of the token that belongs to this thread.
  template <bool is_query>
  CONELAB_TILE static void load_side(int thread, const Problem<N>& p, const Upstream<N>& in,
                                     const Tile& tile, int token, N (*facts)[tile_rows]) {
    const Side<N>& side = is_query ? p.query : p.key;
    load_facts<S>(thread, side, tile.group, token, facts);
    const bool inside = token < side.count;
    const std::int64_t at = static_cast<std::int64_t>(tile.group) * side.count + token;
    const bool of_columns = inside && p.over_queries && !tile.of_weights;
    if constexpr (is_query) {
      facts[of_query][thread] = inside ? in.reference[at] : N(0);
      facts[of_query + 1][thread] = inside ? in.inverse_sum[at] : N(0);
      facts[of_query + 2][thread] = inside ? in.delta[at] : N(0);
      facts[of_query + 3][thread] = of_columns ? in.unit[at] : N(0);
    } else {
      const std::int64_t shared_at = side.of(tile.group) * side.count + token;
      facts[of_key][thread] = inside ? p.value_mark[shared_at] : N(0);
      facts[of_key + 1][thread] = of_columns ? tile.column_delta[at] : N(0);
    }
  }

  /// Computes the factors of `accumulate` from products: W, or P for slices of weights. They are in
  /// shared memory and in `tile`; then `slope` is dL/dlogit.
  CONELAB_TILE static void tail(int thread, const Problem<N>& p, const Upstream<N>& in,
                                const Tile& tile, std::uint32_t seen, SharedTile<N>& shared,
                                State& s) {
    const std::uint32_t close =
        finish_measures<S, owner>(thread, p, tile.group, tile.row, shared, s.tile);
    if constexpr (differences) publish_close(thread, close, shared);
    const bool adds = has_addend(p);
    N constants[S::constants] = {};
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
      const int c = column_of(thread, j);
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        const int r = row_of(thread, i);
        Factors now = {};
        if ((seen >> bit_of(i, j) & 1) != 0) {
          const N addend = adds ? shared.weights[c][r] : N(0);
          now = pair(p, in, tile, shared, {r, c}, s.tile.at[i][j], addend, s.slope.at[i][j],
                     s.potential[i], constants);
        }
        s.tile.at[i][j] = now.factor;
        s.slope.at[i][j] = now.by_logit;
        shared.weights[c][r] = now.factor;
      }
    }
#pragma unroll
    for (int n = 0; n < S::constants; ++n) s.sums[n] += static_cast<double>(constants[n]);
  }

  /// Stores which pairs of the thread's rows are close.
  CONELAB_TILE static void publish_close(int thread, std::uint32_t close, SharedTile<N>& shared) {
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      std::uint64_t columns = 0;
      for (int j = 0; close != 0 && j < column_share; ++j) {
        columns |= static_cast<std::uint64_t>(close >> bit_of(i, j) & 1) << column_of(thread, j);
      }
      shared.close[thread % row_threads][row_of(thread, i)] = columns;
    }
  }

  /// A pair's row and column in the tile.
  struct Pair {
    int row, column;
  };
  struct Factors {
    N factor, by_logit;
  };

  /// Computes the factors of one pair, given its measure, what is added to its logit, and
  /// dL/d(weight) without what the weights share. Adds to the potential of its row and to the sums
  /// of the constants.
  CONELAB_TILE static Factors pair(const Problem<N>& p, const Upstream<N>& in, const Tile& tile,
                                   const SharedTile<N>& shared, Pair at, N measure, N addend,
                                   N weight_slope, N& potential, N* constants) {
    constexpr bool of_rows = owner == Owner::query;
    const auto& queries = of_rows ? shared.row_facts : shared.column_facts;
    const auto& keys = of_rows ? shared.column_facts : shared.row_facts;
    const int i = of_rows ? at.row : at.column, j = of_rows ? at.column : at.row;
    const TokenValues<S, N> q = values_at<S>(queries, i), k = values_at<S>(keys, j);
    const Slope<N, S::constants> slope =
        S::slope(measure, q.at, k.at, p.constants + tile.head * S::constants);
    const N logit = slope.logit + addend;
    const N m = queries[of_query][i], inverse_sum = queries[of_query + 1][i];
    const N delta = queries[of_query + 2][i];
    const N weight = (p.sigmoid ? sigmoid(logit, m) : exponential(logit - m)) * inverse_sum;
    if (tile.of_weights) return {weight, N(0)};
    N by_weight = weight_slope + keys[of_key][j] - (p.sigmoid ? N(0) : delta);
    if (p.over_queries) by_weight -= queries[of_query + 3][i] * keys[of_key + 1][j];
    if (in.class_slope != nullptr) {
      const int row = tile.row + at.row, column = shared.token[at.column];
      by_weight +=
          of_class(p, in.class_slope, tile.group, of_rows ? row : column, of_rows ? column : row);
    }
    const N by_logit =
        p.sigmoid ? weight * (N(1) - weight * delta) * by_weight : weight * by_weight;
    potential += by_logit * (of_rows ? slope.query : slope.key);
    if (tile.sums_parameters()) {
      for (int n = 0; n < S::constants; ++n) constants[n] += by_logit * slope.constant[n];
    }
    return {by_logit * slope.x, by_logit};
  }

  /// Adds dL/dlogit of a tile to the sums of the bias's parameters. The factors give way to it in
  /// shared memory meanwhile.
  template <class Locals>
  CONELAB_TILE static void sum_biases(const Block& block, const Problem<N>& p,
                                      const GradientResult<N>& result, const Tile& tile,
                                      SharedTile<N>& shared, Locals& locals) {
    block.phase([&](int thread) { publish(thread, locals[thread].slope, shared); });
    block.phase([&](int thread) {
      add_slopes(thread, p, tile, shared, locals[thread]);
      if (tile.sums_slopes()) add_classes(thread, p, tile.place, shared, result.class_slope);
    });
    block.phase([&](int thread) { publish(thread, locals[thread].tile, shared); });
  }

  CONELAB_TILE static void publish(int thread, const Fragment<N>& fragment, SharedTile<N>& shared) {
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
#pragma unroll
      for (int j = 0; j < column_share; ++j) {
        shared.weights[column_of(thread, j)][row_of(thread, i)] = fragment.at[i][j];
      }
    }
  }

  CONELAB_TILE static void add_slopes(int thread, const Problem<N>& p, const Tile& tile,
                                      const SharedTile<N>& shared, State& s) {
#pragma unroll
    for (int b = 0; b < max_slopes; ++b) {
      if (b >= p.bias_slopes) continue;
      N sum = N(0);
#pragma unroll 1
      for (int e = 0; e < row_share * column_share; ++e) {
        const int r = row_of(thread, e % row_share), c = column_of(thread, e / row_share);
        const int query = tile.row + r, key = shared.token[c];
        if (query >= p.query.count || key >= p.key.count) continue;
        sum += shared.weights[c][r] * bias_slope_of(p, tile.head, b, query, key);
      }
      s.sums[S::constants + b] += static_cast<double>(sum);
    }
  }

  template <class Locals>
  CONELAB_TILE static void accumulate(const Block& block, const Tile& tile, SharedTile<N>& shared,
                                      Locals& locals) {
    const Source base = tanh_sum ? first_half(tile.other) : tile.other;
    const Source right = tile.of_weights ? tile.other_value : base;
    for (int step = 0; step < tile_columns; step += tile_steps) {
      const int* tokens = shared.token + step;
      block.phase([&](int thread) {
        load_by_step(thread, right, tokens, tile.column, shared.columns);
        if constexpr (tanh_sum && owner == Owner::query) {
          load_by_step(thread, second_half(tile.other), tokens, tile.column, shared.rows);
        }
      });
      block.phase([&](int thread) {
        State& s = locals[thread];
        if (tile.of_weights || (!tanh_sum && !differences)) {
          multiply_weights(thread, shared.weights + step, shared.columns, right.storage, s.sum);
        } else if constexpr (tanh_sum) {
          multiply_tanh(thread, tile, shared, step, s);
        } else if constexpr (differences) {
          multiply_far(thread, right, shared, step, s);
          multiply_close(thread, tile, shared, step, s);
        }
      });
    }
  }

  /// Returns which pairs of a row are close.
  CONELAB_TILE static std::uint64_t close_of(const SharedTile<N>& shared, int row) {
    std::uint64_t close = 0;
    for (int t = 0; t < row_threads; ++t) close |= shared.close[t][row];
    return close;
  }

  /// Adds W_ij k_j to the sum and W_ij to the total, of pairs that are not close.
  CONELAB_TILE static void multiply_far(int thread, const Source& right,
                                        const SharedTile<N>& shared, int step, State& s) {
    std::uint64_t close[row_share];
#pragma unroll
    for (int i = 0; i < row_share; ++i) close[i] = close_of(shared, row_of(thread, i)) >> step;
    const auto weight = [&](int r, int at) {
      const bool is_close = (close[r == row_of(thread, 0) ? 0 : 1] >> at & 1) != 0;
      return is_close ? N(0) : shared.weights[step + at][r];
    };
    const auto column = [&](int at, int c) { return shared.columns.of_step(at, c); };
    if (is_narrow(right.storage)) {
      multiply_with_totals<false>(thread, weight, column, s.sum, s.total);
    } else {
      multiply_with_totals<true>(thread, weight, column, s.sum, s.total);
    }
  }

  /// Adds W_ij (k_j - q_i) of close pairs to the sum.
  CONELAB_TILE static void multiply_close(int thread, const Tile& tile, const SharedTile<N>& shared,
                                          int step, State& s) {
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = row_of(thread, i);
      const auto close = static_cast<std::uint32_t>(close_of(shared, r) >> step);
      if (close == 0) continue;
#pragma unroll 1
      for (int at = 0; at < tile_steps; ++at) {
        if ((close >> at & 1) == 0) continue;
        const N weight = shared.weights[step + at][r];
#pragma unroll
        for (int j = 0; j < column_share; ++j) {
          const int c = column_of(thread, j);
          s.sum.at[i][j] += weight * (shared.columns.of_step(at, c) -
                                      element<N>(tile.own, tile.row + r, tile.column + c));
        }
      }
    }
  }

  /// Adds W (1 - t^2), times the keys' weights if the rows are queries; or W t.
  CONELAB_TILE static void multiply_tanh(int thread, const Tile& tile, const SharedTile<N>& shared,
                                         int step, State& s) {
    Fragment<N> own;
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
#pragma unroll
      for (int j = 0; j < column_share; ++j) {
        own.at[i][j] = element<N>(first_half(tile.own), tile.row + row_of(thread, i),
                                  tile.column + column_of(thread, j));
      }
    }
    for_each_step(thread, shared.columns, [&](int at, int i, int j, N column) {
      const N t = hyperbolic_tangent(own.at[i][j] + column);
      N factor = tile.second ? t : N(1) - t * t;
      if constexpr (owner == Owner::query) {
        factor *= shared.rows.of_step(at, column_of(thread, j));
      }
      s.sum.at[i][j] += shared.weights[step + at][row_of(thread, i)] * factor;
    });
  }

  template <class Locals>
  CONELAB_TILE static void write(const Block& block, const Problem<N>& p,
                                 const GradientResult<N>& result, const Tile& tile,
                                 SharedTile<N>& shared, Locals& locals) {
    block.phase([&](int thread) {
      write_sums(thread, p, result, tile, locals[thread]);
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        shared.partial[thread % row_threads][row_of(thread, i)] = locals[thread].potential[i];
      }
    });
    block.phase([&](int thread) { write_potential(thread, p, result, tile, shared); });
    if (!tile.sums_parameters()) return;
#pragma unroll
    for (int n = 0; n < S::constants + max_slopes; ++n) {
      if (n >= S::constants + p.bias_slopes) continue;
      block.phase([&](int thread) { shared.sums[thread] = locals[thread].sums[n]; });
      block.phase([&](int thread) { write_parameter(thread, n, p, result, tile, shared); });
    }
  }

  CONELAB_TILE static void write_sums(int thread, const Problem<N>& p,
                                      const GradientResult<N>& result, const Tile& tile,
                                      const State& s) {
    N* to = tile.of_weights         ? result.value
            : owner == Owner::query ? result.query_base
                                    : result.key_base;
    const int stride = tile.of_weights ? p.width : p.base_size;
    const int size = tanh_sum && !tile.of_weights ? p.base_size / 2 : stride;
    const int first = tile.second ? size : 0;
    const int count = row_side<owner>(p).count;
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = tile.row + row_of(thread, i);
#pragma unroll
      for (int j = 0; j < column_share; ++j) {
        const int c = tile.column + column_of(thread, j);
        if (r >= count || c >= size) continue;
        N gradient = s.sum.at[i][j];
        if constexpr (differences) {
          if (!tile.of_weights) {
            gradient = element<N>(tile.own, r, c) * s.total[i] - gradient;
          }
        }
        to[(static_cast<std::int64_t>(tile.group) * count + r) * stride + first + c] =
            gradient * common_factor(tile, r, c);
      }
    }
  }

  /// Returns what all terms of a sum have in common.
  CONELAB_TILE static N common_factor(const Tile& tile, int row, int column) {
    if (tile.of_weights) return N(1);
    if constexpr (differences) return N(2);
    if constexpr (tanh_sum && owner == Owner::key) {
      if (!tile.second) return element<N>(second_half(tile.own), row, column);
    }
    return N(1);
  }

  CONELAB_TILE static void write_potential(int thread, const Problem<N>& p,
                                           const GradientResult<N>& result, const Tile& tile,
                                           const SharedTile<N>& shared) {
    const int count = row_side<owner>(p).count;
    const int r = tile.row + thread;
    if (tile.place.slice != 0 || thread >= tile_rows || r >= count) return;
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
#pragma unroll 4
    for (int t = 0; t < tile_threads; ++t) sum += shared.sums[t];
    const int blocks = ceil_div(p.query.count, tile_rows);
    const std::int64_t at = static_cast<std::int64_t>(tile.group) * blocks + tile.row / tile_rows;
    result.sums[at * (S::constants + p.bias_slopes) + n] = sum;
  }
};

/// The product of each key's value and its gradient, for the softmax over queries: 64 keys of a
/// block.
template <class N, class Block>
struct ColumnDeltaTile {
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p,
                               const GradientResult<N>& result, const TilePlace& place,
                               SharedTile<N>& /*shared*/) {
    block.phase([&](int thread) {
      const int key = place.block * tile_rows + thread;
      if (thread >= tile_rows || key >= p.key.count) return;
      const std::int64_t j = static_cast<std::int64_t>(place.group) * p.key.count + key;
      const Source value = value_of(p, place.group);
      double sum = 0;
      for (int c = 0; c < p.width; ++c) {
        sum += static_cast<double>(element<N>(value, key, c)) *
               static_cast<double>(result.value[j * p.width + c]);
      }
      result.column_delta[j] = static_cast<N>(sum);
    });
  }
};

}  // namespace conelab::gpu
