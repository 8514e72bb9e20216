// Products of tiles in the portable kernels: 64 rows × 64 columns, held by 128 threads with 4 × 8
// numbers each.
//
// Operands pass through shared memory in chunks of 32 steps, as [step][row or column]. A thread's
// rows and columns are strided, so that the threads of a warp read neighbouring words or the same
// word. Rows are padded by one word, so that the stores of a transposition fall into different
// banks.
#pragma once

#include "gpu/tile/block.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu {

constexpr int tile_rows = 64;
constexpr int tile_columns = 64;
constexpr int tile_steps = 32;
constexpr int padded = tile_rows + 1;
constexpr int row_share = 4;
constexpr int column_share = 8;
constexpr int row_threads = tile_columns / column_share;  ///< The threads that share a row.

/// Return the tile's row and column of a thread's element [i][j].
CONELAB_TILE constexpr int row_of(int thread, int i) { return thread / row_threads + 16 * i; }
CONELAB_TILE constexpr int column_of(int thread, int j) {
  return thread % row_threads + row_threads * j;
}

/// A thread's part of a tile: element [i][j] is that at (row_of(thread, i), column_of(thread, j)).
template <class N>
struct Fragment {
  N at[row_share][column_share];
};

/// The shared memory of a block.
template <class N>
struct SharedTile {
  N rows[tile_steps][padded];
  N columns[tile_steps][padded];
  N weights[tile_columns][padded];    ///< [column][row]
  N partial[row_threads][tile_rows];  ///< One number for each row and thread of the row.
  double sums[tile_threads];
  int token[tile_columns];  ///< The tokens of the tile's columns; past_end beyond the last.
  std::uint64_t seen[tile_columns];  ///< PairLists::rows of the columns.
};

/// A number beyond every token.
constexpr int past_end = 1 << 30;

/// The tokens of a block's rows, as the array `SharedTile::token` gives those of its columns.
struct Successive {
  int first;
  CONELAB_TILE int operator[](int i) const { return first + i; }
};

/// A row-major matrix of one group: element (r, c) at data[first + r * stride + c].
struct Source {
  const void* data;
  Storage storage;
  std::int64_t first;
  int stride;
  int rows, columns;  ///< Elements beyond these read as zero.
};

/// Returns element (row, column).
template <class N>
CONELAB_TILE N element(const Source& source, int row, int column) {
  if (row >= source.rows || column >= source.columns) return N(0);
  return load<N>(source.data, source.storage,
                 source.first + static_cast<std::int64_t>(row) * source.stride + column);
}

/// Loads a chunk transposed: to[step][r] = source(tokens[r], step_begin + step).
template <class N, class Tokens>
CONELAB_TILE void load_transposed(int thread, const Source& source, const Tokens& tokens,
                                  int step_begin, N (*to)[padded]) {
  const int step = thread % tile_steps;
  for (int r = thread / tile_steps; r < tile_rows; r += tile_threads / tile_steps) {
    to[step][r] = element<N>(source, tokens[r], step_begin + step);
  }
}

/// Loads a chunk: to[step][c] = source(tokens[step], column + c).
template <class N>
CONELAB_TILE void load_direct(int thread, const Source& source, const int* tokens, int column,
                              N (*to)[padded]) {
  const int c = thread % tile_columns;
  for (int step = thread / tile_columns; step < tile_steps; step += tile_threads / tile_columns) {
    to[step][c] = element<N>(source, tokens[step], column + c);
  }
}

/// Adds rows[step][i] * factor(step, i, j, columns[step][j]) over the chunk's steps to sum[i][j],
/// for the thread's rows i and columns j.
template <class N, class Factor>
CONELAB_TILE void multiply_by(int thread, const N (*rows)[padded], const N (*columns)[padded],
                              Fragment<N>& sum, const Factor& factor) {
#pragma unroll 4
  for (int step = 0; step < tile_steps; ++step) {
    N a[row_share];
    N b[column_share];
#pragma unroll
    for (int i = 0; i < row_share; ++i) a[i] = rows[step][row_of(thread, i)];
#pragma unroll
    for (int j = 0; j < column_share; ++j) b[j] = columns[step][column_of(thread, j)];
#pragma unroll
    for (int i = 0; i < row_share; ++i) {
#pragma unroll
      for (int j = 0; j < column_share; ++j) sum.at[i][j] += a[i] * factor(step, i, j, b[j]);
    }
  }
}

/// Adds rows^T columns to the sum.
template <class N>
CONELAB_TILE void multiply(int thread, const N (*rows)[padded], const N (*columns)[padded],
                           Fragment<N>& sum) {
  multiply_by(thread, rows, columns, sum, [](int, int, int, N column) { return column; });
}

/// Adds weight * (own - column) to the sum. The difference is taken first, so that close numbers do
/// not cancel.
template <class N>
CONELAB_TILE void multiply_difference(int thread, const N (*weights)[padded],
                                      const N (*columns)[padded], const Fragment<N>& own,
                                      Fragment<N>& sum) {
  multiply_by(thread, weights, columns, sum,
              [&](int, int i, int j, N column) { return own.at[i][j] - column; });
}

/// Sets all numbers to 0.
template <class N>
CONELAB_TILE void clear(Fragment<N>& f) {
#pragma unroll
  for (int i = 0; i < row_share; ++i) {
#pragma unroll
    for (int j = 0; j < column_share; ++j) f.at[i][j] = N(0);
  }
}

/// Adds a b^T of the block's rows and the tile's columns, summed over the columns of a and b. `row`
/// is the block's first token; `member` points to the fragment in a thread's state.
template <class N, class Block, class Locals, class Member>
CONELAB_TILE void product_tile(const Block& block, SharedTile<N>& shared, const Source& a, int row,
                               const Source& b, Locals& locals, Member member) {
  for (int step = 0; step < a.columns; step += tile_steps) {
    block.phase([&](int thread) {
      load_transposed(thread, a, Successive{row}, step, shared.rows);
      load_transposed(thread, b, shared.token, step, shared.columns);
    });
    block.phase(
        [&](int thread) { multiply(thread, shared.rows, shared.columns, locals[thread].*member); });
  }
}

}  // namespace conelab::gpu
