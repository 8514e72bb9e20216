// The portable forward pass of one block: 64 queries, 64 columns of the output, and all tiles of
// keys that any of the queries sees.
//
//   output_i = sum_j w_ij v_j / sum_j w_ij,  w_ij = exp(logit_ij - m_i)
//
// The softmax is computed online (Milakov and Gimelshein 2018, algorithm 3): the output and its sum
// are rescaled when a tile raises the row's maximum m_i. Sigmoid weights have m = 0 and are not
// divided by their sum.
#pragma once

#include <limits>

#include "gpu/tile/pair.h"

namespace conelab::gpu {

/// The pass for similarity S in numbers N on the block type `Block` (gpu/tile/block.h).
template <class S, class N, class Block>
class ForwardTile {
 public:
  /// Returns the number of slices of 64 output columns; a block computes one.
  CONELAB_TILE static int slices(const Problem<N>& p) {
    return max(1, ceil_div(p.width, tile_columns));
  }

  /// Computes the block at `place` and writes its part of `result`.
  CONELAB_TILE static void run(const Block& block, const Problem<N>& p,
                               const ForwardResult<N>& result, const TilePlace& place,
                               SharedTile<N>& shared) {
    typename Block::template Local<State> locals;
    block.phase([&](int thread) { start(locals[thread]); });
    const int blocks = ceil_div(p.query.count, tile_rows);
    const KeySpan span = p.block_span[place.group / p.heads * blocks + place.block].any;
    const int row = place.block * tile_rows;
    const Source query = base_of(p, p.query, place.group);
    const Source key = base_of(p, p.key, place.group);
    for (int tile = span.begin / tile_columns; tile * tile_columns < span.end; ++tile) {
      const int column = tile * tile_columns;
      product_tile(block, shared, query, row, key, column, p.base_size, locals, &State::tile);
      block.phase(
          [&](int thread) { score(thread, p, place.group, row, column, shared, locals[thread]); });
      block.phase([&](int thread) { weigh(thread, p, shared, locals[thread]); });
      aggregate(block, p, place, column, shared, locals);
    }
    finish(block, p, result, place, shared, locals);
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

  /// Computes logits from products, and the largest of this thread's columns in each row. Pairs
  /// that are not seen get -infinity.
  CONELAB_TILE static void score(int thread, const Problem<N>& p, int group, int row, int column,
                                 SharedTile<N>& shared, State& s) {
    measure_pairs<S>(thread, p, group, p.query, row, p.key, column, s.tile);
    const int head = group % p.heads;
    const N* constants = p.constants + head * S::constants;
    TokenValues<S, N> query[row_share];
    N largest[row_share];
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      query[i] = token_values<S>(p.query, group, row + row_of(thread, i));
      largest[i] = lowest;
    }
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
      const int c = column + column_of(thread, j);
      const TokenValues<S, N> key = token_values<S>(p.key, group, c);
#pragma unroll
      for (int i = 0; i < row_share; ++i) {
        const int r = row + row_of(thread, i);
        N& logit = s.tile.at[i][j];
        logit = sees(p, group / p.heads, r, c)
                    ? S::score(logit, query[i].at, key.at, constants) + bias_of(p, head, r, c)
                    : lowest;
        largest[i] = conelab::max(largest[i], logit);
      }
    }
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      shared.partial[thread % row_threads][row_of(thread, i)] = largest[i];
    }
  }

  /// Computes weights from logits and stores them in shared memory. Each thread of a row computes
  /// the row's maximum.
  CONELAB_TILE static void weigh(int thread, const Problem<N>& p, SharedTile<N>& shared, State& s) {
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = row_of(thread, i);
      const N reference = p.sigmoid ? N(0) : raise(r, i, shared, s);
#pragma unroll
      for (int j = 0; j < column_share; ++j) {
        const N logit = s.tile.at[i][j];
        const N weight = p.sigmoid ? sigmoid(logit) : exponential(logit - reference);
        s.sum[i] += weight;
        shared.weights[column_of(thread, j)][r] = weight;
      }
    }
  }

  /// Updates the maximum of row i and rescales its sums. Returns the maximum, or 0 if the row has
  /// seen no key.
  CONELAB_TILE static N raise(int row, int i, const SharedTile<N>& shared, State& s) {
    N largest = s.maximum[i];
    for (int t = 0; t < row_threads; ++t) {
      largest = conelab::max(largest, shared.partial[t][row]);
    }
    if (largest == lowest) return N(0);
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
                                     const TilePlace& place, int column, SharedTile<N>& shared,
                                     Locals& locals) {
    const Source value = value_of(p, place.group);
    for (int step = 0; step < tile_columns; step += tile_steps) {
      block.phase([&](int thread) {
        load_direct(thread, value, column + step, place.slice * tile_columns, shared.columns);
      });
      block.phase([&](int thread) {
        multiply(thread, shared.weights + step, shared.columns, locals[thread].output);
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

  /// Returns the factor that turns the exp(logit - maximum) of a row, whose sum is `sum`, into
  /// weights.
  CONELAB_TILE static N scale_of(const Problem<N>& p, N maximum, N sum) {
    if (p.sigmoid) return N(1);
    if (sum == N(0)) return N(0);
    return p.normalised ? N(1) / sum : exponential(maximum);
  }

  CONELAB_TILE static void write(int thread, const Problem<N>& p, const ForwardResult<N>& result,
                                 const TilePlace& place, const SharedTile<N>& shared,
                                 const State& s) {
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
      const int r = place.block * tile_rows + row_of(thread, i);
      if (r >= p.query.count) continue;
      N sum = N(0);
      for (int t = 0; t < row_threads; ++t) sum += shared.partial[t][row_of(thread, i)];
      const std::int64_t at = static_cast<std::int64_t>(place.group) * p.query.count + r;
      if (place.slice == 0 && thread % row_threads == 0) {
        result.sum[at] = sum;
        result.maximum[at] = s.maximum[i] == lowest ? N(0) : s.maximum[i];
      }
      const N scale = scale_of(p, s.maximum[i], sum);
#pragma unroll
      for (int j = 0; j < column_share; ++j) {
        const int c = place.slice * tile_columns + column_of(thread, j);
        if (c < p.width) result.output[at * p.width + c] = s.output.at[i][j] * scale;
      }
    }
  }
};

}  // namespace conelab::gpu
