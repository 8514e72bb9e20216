// The portable forward pass of one block: 64 queries, 64 columns of the output, and all tiles of
// keys that any of the queries sees.
//
//   output_i = sum_j w_ij v_j / sum_j w_ij,  w_ij = exp(logit_ij - m_i)
//
// The softmax is computed online (Milakov and Gimelshein 2018, algorithm 3): the output and its sum
// are rescaled when a tile raises the row's maximum m_i. For sigmoid weights m_i is at most 0, the
// sums are those of sigmoid(logit_ij) e^-m_i, and they are multiplied by e^m_i instead. Where
// weights are summed by class as well (gpu/tile/classes.h), the first slice sweeps over the keys
// again once its maxima are known.
//
// For the softmax over queries a pass of blocks of keys comes first. It sweeps over the queries and
// writes the log-sum-exp of each key, which the pass of queries subtracts from the logits.
#pragma once

#include <limits>

#include "gpu/tile/classes.h"

namespace conelab::gpu {

/// The pass for similarity S in numbers N on the block type `Block` (gpu/tile/block.h).
template <class S, class N, Owner owner, class Block>
class ForwardTile {
 public:
  /// Returns the number of slices of 64 output columns; a block computes one.
  CONELAB_TILE static int slices(const Problem<N>& p) {
    return owner == Owner::key ? 1 : max(1, ceil_div(p.width, tile_columns));
  }

  /// Computes the block at `place` and writes its part of `result`.
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p,
                               const ForwardResult<N>& result, const TilePlace& place,
                               SharedTile<N>& shared) {
    typename Block::template Local<State> locals;
    block.phase([&](int thread) {
      start(locals[thread]);
      const int row = place.block * tile_rows + thread;
      if (thread < tile_rows) {
        load_facts<S>(thread, row_side<owner>(p), place.group, row, shared.row_facts);
      }
    });
    const bool classes = owner == Owner::query && p.sums_weights && place.slice == 0;
#pragma unroll 1
    for (int sweeps = 0; sweeps < (classes ? 2 : 1); ++sweeps) {
      if (sweeps == 1) {
        block.phase([&](int thread) { clear_classes(thread, p, place, result.class_weight); });
      }
      sweep(block, p, result, place, sweeps == 1, shared, locals);
      if (sweeps == 0) finish(block, p, result, place, shared, locals);
    }
    if (classes) block.phase([&](int thread) { scale_classes(thread, p, result, place); });
  }

 private:
  struct State {
    Fragment<N> output, tile;
    N maximum[row_share];
    N sum[row_share];  ///< The sums of weights over this thread's columns.
  };

  static constexpr N lowest = -std::numeric_limits<N>::infinity();

  CONELAB_TILE static int max(int a, int b) { return a < b ? b : a; }

  CONELAB_TILE static void start(State& s) {
    clear(s.output);
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      s.maximum[i] = lowest;
      s.sum[i] = N(0);
    }
  }

  /// Visits all tiles and adds to the output, or to the sums of weights by class. For the latter
  /// the rows' maxima are final, so that nothing is rescaled.
  template <class Locals>
  CONELAB_TILE static void sweep(const Block& block, const Problem<N>& p,
                                 const ForwardResult<N>& result, const TilePlace& place,
                                 bool classes, SharedTile<N>& shared, Locals& locals) {
    const int batch = place.group / p.heads;
    const Visit visit = visit_of<owner>(p, place.group, place.block);
    const N* column_lse = owner == Owner::query ? result.column_lse : nullptr;
    for (int at = visit.begin; at < visit.end; at += tile_columns) {
      if (!meets<owner>(p, visit, batch, place.block, at)) continue;
      const bool whole = is_whole<owner>(p, visit, batch, place.block, at);
      block.phase([&](int thread) {
        clear(locals[thread].tile);
        if (thread >= tile_columns) return;
        find_tokens(thread, visit, at, shared);
        load_facts<S>(thread, column_side<owner>(p), place.group, shared.token[thread],
                      shared.column_facts);
      });
      measure_tile<S, owner>(block, shared, p, place, column_lse, locals, &State::tile);
      block.phase([&](int thread) {
        const std::uint32_t seen =
            whole ? ~0u : seen_pairs<owner>(p, visit, shared, batch, place.block, thread);
        score(thread, p, place, seen, shared, locals[thread]);
      });
      block.phase([&](int thread) { weigh(thread, p, shared, locals[thread]); });
      if constexpr (owner == Owner::query) {
        if (classes) {
          block.phase(
              [&](int thread) { add_classes(thread, p, place, shared, result.class_weight); });
        } else {
          aggregate(block, p, place, shared, locals);
        }
      }
    }
  }

  /// Computes logits from products, and the largest of this thread's columns in each row. Pairs
  /// that are not seen get -infinity.
  CONELAB_TILE static void score(int thread, const Problem<N>& p, const TilePlace& place,
                                 std::uint32_t seen, SharedTile<N>& shared, State& s) {
    const int group = place.group, row = place.block * tile_rows;
    finish_measures<S, owner>(thread, p, group, row, shared, s.tile);
    const N* constants = p.constants + group % p.heads * S::constants;
    TokenValues<S, N> own[row_share];
    N largest[row_share];
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      own[i] = values_at<S>(shared.row_facts, row_of(thread, i));
      largest[i] = lowest;
    }
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
      const int c = column_of(thread, j);
      const TokenValues<S, N> other = values_at<S>(shared.column_facts, c);
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        const N* q = owner == Owner::query ? own[i].at : other.at;
        const N* k = owner == Owner::query ? other.at : own[i].at;
        N& x = s.tile.at[i][j];
        x = S::score(x, q, k, constants);
      }
    }
    if (has_addend(p)) add(thread, shared, s.tile);
    if (seen != ~0u) hide(seen, s.tile);
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
#pragma unroll
      for (int j = 0; j < column_share; ++j) {
        largest[i] = larger(largest[i], s.tile.at[i][j]);
      }
    }
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      shared.partial[thread % row_threads][row_of(thread, i)] = largest[i];
    }
  }

  /// Adds what `store_addends` stored.
  CONELAB_TILE static void add(int thread, const SharedTile<N>& shared, Fragment<N>& tile) {
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        tile.at[i][j] += shared.weights[column_of(thread, j)][row_of(thread, i)];
      }
    }
  }

  CONELAB_TILE static void hide(std::uint32_t seen, Fragment<N>& tile) {
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        if ((seen >> bit_of(i, j) & 1) == 0) tile.at[i][j] = lowest;
      }
    }
  }

  /// Computes weights from logits and stores them in shared memory. Each thread of a row computes
  /// the row's maximum.
  CONELAB_TILE static void weigh(int thread, const Problem<N>& p, SharedTile<N>& shared, State& s) {
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = row_of(thread, i);
      const N reference = raise(r, i, p.sigmoid, shared, s);
      const auto store = [&](const auto& weight_of) {
#pragma unroll
        for (int j = 0; j < column_share; ++j) {
          const N weight = weight_of(s.tile.at[i][j]);
          s.sum[i] += weight;
          shared.weights[column_of(thread, j)][r] = weight;
        }
      };
      if (p.sigmoid) {
        store([&](N logit) { return sigmoid(logit, reference); });
      } else {
        store([&](N logit) { return exponential(logit - reference); });
      }
    }
  }

  /// Updates the maximum of row i, at most 0 for a sigmoid, and rescales its sums. Returns the
  /// maximum, or 0 if the row has seen no key.
  CONELAB_TILE static N raise(int row, int i, bool of_sigmoid, const SharedTile<N>& shared,
                              State& s) {
    N largest = s.maximum[i];
    for (int t = 0; t < row_threads; ++t) {
      largest = larger(largest, shared.partial[t][row]);
    }
    if (largest == lowest) return N(0);
    if (of_sigmoid && largest > N(0)) largest = N(0);
    const N scale = s.maximum[i] == lowest ? N(0) : exponential(s.maximum[i] - largest);
    s.maximum[i] = largest;
    s.sum[i] *= scale;
#pragma unroll
    for (int j = 0; j < column_share; ++j) s.output.at[i][j] *= scale;
    return largest;
  }

  /// Adds weights * values to the output.
  template <class Locals>
  CONELAB_TILE static void aggregate(const Block& block, const Problem<N>& p,
                                     const TilePlace& place, SharedTile<N>& shared,
                                     Locals& locals) {
    const Source value = value_of(p, place.group);
    for (int step = 0; step < tile_columns; step += tile_steps) {
      block.phase([&](int thread) {
        load_by_step(thread, value, shared.token + step, place.slice * tile_columns,
                     shared.columns);
      });
      block.phase([&](int thread) {
        multiply_weights(thread, shared.weights + step, shared.columns, value.storage,
                         locals[thread].output);
      });
    }
  }

  template <class Locals>
  CONELAB_TILE static void finish(const Block& block, const Problem<N>& p,
                                  const ForwardResult<N>& result, const TilePlace& place,
                                  SharedTile<N>& shared, Locals& locals) {
    block.phase([&](int thread) {
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        shared.partial[thread % row_threads][row_of(thread, i)] = locals[thread].sum[i];
      }
    });
    block.phase([&](int thread) { write(thread, p, result, place, shared, locals[thread]); });
  }

  /// Returns the factor that turns the numbers of a row relative to its maximum, whose sum is
  /// `sum`, into weights.
  CONELAB_TILE static N scale_of(const Problem<N>& p, N maximum, N sum) {
    if (sum == N(0)) return N(0);
    return p.normalised ? N(1) / sum : exponential(maximum);
  }

  CONELAB_TILE static void write(int thread, const Problem<N>& p, const ForwardResult<N>& result,
                                 const TilePlace& place, const SharedTile<N>& shared,
                                 const State& s) {
    const int count = row_side<owner>(p).count;
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = place.block * tile_rows + row_of(thread, i);
      if (r >= count) continue;
      N sum = N(0);
      for (int t = 0; t < row_threads; ++t) sum += shared.partial[t][row_of(thread, i)];
      const std::int64_t at = static_cast<std::int64_t>(place.group) * count + r;
      const N maximum = s.maximum[i] == lowest ? N(0) : s.maximum[i];
      const bool first = place.slice == 0 && thread % row_threads == 0;
      if constexpr (owner == Owner::key) {
        if (first) result.column_lse[at] = sum == N(0) ? lowest : maximum + logarithm(sum);
      } else {
        if (first) {
          result.sum[at] = sum;
          result.maximum[at] = maximum;
        }
        write_output(thread, p, result, place, at, scale_of(p, maximum, sum), s.output.at[i]);
      }
    }
  }

  CONELAB_TILE static void write_output(int thread, const Problem<N>& p,
                                        const ForwardResult<N>& result, const TilePlace& place,
                                        std::int64_t row, N scale,
                                        const N (&output)[column_share]) {
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
      const int c = place.slice * tile_columns + column_of(thread, j);
      if (c < p.width) result.output[row * p.width + c] = output[j] * scale;
    }
  }

  CONELAB_TILE static void scale_classes(int thread, const Problem<N>& p,
                                         const ForwardResult<N>& result, const TilePlace& place) {
    N* own = class_sums(thread, p, place, result.class_weight);
    if (own == nullptr) return;
    const std::int64_t row =
        static_cast<std::int64_t>(place.group) * p.query.count + place.block * tile_rows + thread;
    const N scale = scale_of(p, result.maximum[row], result.sum[row]);
    for (int c = 0; c < p.classes; ++c) own[c] *= scale;
  }
};

}  // namespace conelab::gpu
