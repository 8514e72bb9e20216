// Products of tiles in the portable kernels, and the chunks of shared memory that their operands
// pass through: 32 steps of tokens or of columns, or 64 of 16 bits. The chunks' lines are padded so
// that a warp's reads fall into different banks: 40 steps of a token (80 of 16 bits), or 68 columns
// of a step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/tile/matrix.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu {

constexpr int padded_steps = tile_steps + 8;  ///< From the line of a token to the next.
constexpr int padded = tile_columns + 4;      ///< From the line of a step to the next.

/// A chunk of an operand, by its tokens (steps are columns of a matrix) or by its steps (which are
/// tokens); by its tokens also of type T, which has 16 bits. Each fits into it.
template <class N>
struct Chunk {
  alignas(32) std::byte at[tile_rows * padded_steps * sizeof(N)];
  template <class T>
  CONELAB_TILE T* numbers() {
    return reinterpret_cast<T*>(at);
  }
  template <class T>
  CONELAB_TILE const T* numbers() const {
    return reinterpret_cast<const T*>(at);
  }
  CONELAB_TILE const N& of_token(int token, int step) const {
    return numbers<N>()[token * padded_steps + step];
  }
  CONELAB_TILE const N& of_step(int step, int column) const {
    return numbers<N>()[step * padded + column];
  }
  template <class T>
  CONELAB_TILE const T& of_narrow(int token, int step) const {
    return numbers<T>()[token * 2 * padded_steps + step];
  }
};
static_assert(tile_steps * padded <= tile_rows * padded_steps);

/// The most numbers of a token that a pair needs: its offset, up to 7 values of the similarity, and
/// 4 of the backward pass.
constexpr int most_facts = 12;

/// The shared memory of a block.
template <class N>
struct SharedTile {
  Chunk<N> rows, columns;
  N weights[tile_columns][padded];    ///< [column][row]
  N partial[row_threads][tile_rows];  ///< One number for each row and thread of the row.
  N row_facts[most_facts][tile_rows];
  N column_facts[most_facts][tile_columns];
  double sums[tile_threads];
  int token[tile_columns];  ///< The tokens of the tile's columns; past_end beyond the last.
  std::uint64_t seen[tile_columns];             ///< PairLists::rows of the columns.
  std::uint64_t close[row_threads][tile_rows];  ///< Bit c: the pair with column c is close.
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

/// The numbers of a line that a thread reads at once: 16 bytes, and 4 doubles.
template <class T>
constexpr int at_once = sizeof(T) == 2 ? 8 : 4;
/// Neighbours holds so many numbers that lie side by side; Bits holds their bits. Memory may hold
/// numbers of another type at the same place.
template <class T, int size = at_once<T>>
struct alignas(16) [[gnu::may_alias]] Neighbours {
  T at[size];
};
template <class T>
struct alignas(16) [[gnu::may_alias]] Bits {
  std::uint32_t at[at_once<T> * sizeof(T) / 4];
};

/// Calls f(numbers) for the numbers of a source, a pointer to their type. The loops of `f` are
/// compiled for each type, so that no number is tested for it.
template <class N, class F>
CONELAB_TILE void with_numbers(const Source& source, const F& f) {
  switch (source.storage) {
    case Storage::f64:
      if constexpr (sizeof(N) == 8) f(static_cast<const double*>(source.data));
      break;
    case Storage::f32:
      f(static_cast<const float*>(source.data));
      break;
    case Storage::f16:
      f(static_cast<const Float16*>(source.data));
      break;
    case Storage::bf16:
      f(static_cast<const Bfloat16*>(source.data));
      break;
  }
}

/// Returns at_once<T> numbers of a row from `column` on, zeros beyond the ends. `aligned` says
/// whether they lie at a multiple of 16 bytes.
template <bool aligned, class T>
CONELAB_TILE Bits<T> read_bits(const T* numbers, const Source& source, int row, int column) {
  const T* line = numbers + static_cast<std::int64_t>(row) * source.stride + column;
  if constexpr (aligned) {
    Bits<T> found = {};
    if (row < source.rows && column < source.columns)
      found = *reinterpret_cast<const Bits<T>*>(line);
    return found;
  } else {
    Neighbours<T> found = {};
#pragma unroll
    for (int e = 0; e < at_once<T>; ++e) {
      if (row < source.rows && column + e < source.columns) found.at[e] = line[e];
    }
    return std::bit_cast<Bits<T>>(found);
  }
}

/// Stores numbers of type T as numbers of type N.
template <class T, class N>
CONELAB_TILE void store_bits(const Bits<T>& bits, N* to) {
  if constexpr (std::is_same_v<T, N>) {
    *reinterpret_cast<Bits<T>*>(to) = bits;
  } else {
    const auto from = std::bit_cast<Neighbours<T>>(bits);
    Neighbours<N, at_once<T>> numbers;
#pragma unroll
    for (int e = 0; e < at_once<T>; ++e) numbers.at[e] = static_cast<N>(from.at[e]);
    *reinterpret_cast<Neighbours<N, at_once<T>>*>(to) = numbers;
  }
}

/// Loads `lines` lines of a chunk: number [line * padded_length + at] becomes number column + at of
/// row tokens[line] of the source, for at < length. A thread reads all of its numbers before it
/// stores any, so that it waits for memory once.
template <int lines, int length, int padded_length, class N, class T, class Tokens>
CONELAB_TILE void load_lines(int thread, const Source& source, const T* numbers,
                             const Tokens& tokens, int column, N* to) {
  constexpr int of_line = length / at_once<T>, step = tile_threads / of_line;
  const int at = thread % of_line * at_once<T>, first = thread / of_line;
  const auto load = [&](auto aligned) {
    Bits<T> found[lines / step];
#pragma unroll
    for (int m = 0; m < lines / step; ++m) {
      found[m] =
          read_bits<aligned>(numbers + source.first, source, tokens[first + m * step], column + at);
    }
#pragma unroll
    for (int m = 0; m < lines / step; ++m) {
      store_bits<T>(found[m], to + (first + m * step) * padded_length + at);
    }
  };
  constexpr int n = at_once<T>;
  const bool begins = reinterpret_cast<std::uintptr_t>(numbers + source.first) % 16 == 0;
  if (begins && source.stride % n == 0 && source.columns % n == 0) {
    load(std::true_type());
  } else {
    load(std::false_type());
  }
}

/// Loads a chunk by tokens: of_token(r, step) = source(tokens[r], step_begin + step).
template <class N, class Tokens>
CONELAB_TILE void load_by_token(int thread, const Source& source, const Tokens& tokens,
                                int step_begin, Chunk<N>& to) {
  with_numbers<N>(source, [&](const auto* numbers) {
    load_lines<tile_rows, tile_steps, padded_steps>(thread, source, numbers, tokens, step_begin,
                                                    to.template numbers<N>());
  });
}

/// Loads a chunk by tokens of type T: of_narrow<T>(r, step) = source(tokens[r], step_begin + step).
template <class T, class N, class Tokens>
CONELAB_TILE void load_narrow(int thread, const Source& source, const Tokens& tokens,
                              int step_begin, Chunk<N>& to) {
  load_lines<tile_rows, narrow_steps, 2 * padded_steps>(thread, source,
                                                        static_cast<const T*>(source.data), tokens,
                                                        step_begin, to.template numbers<T>());
}

/// Loads a chunk by steps: of_step(step, c) = source(tokens[step], column + c).
template <class N>
CONELAB_TILE void load_by_step(int thread, const Source& source, const int* tokens, int column,
                               Chunk<N>& to) {
  with_numbers<N>(source, [&](const auto* numbers) {
    load_lines<tile_steps, tile_columns, padded>(thread, source, numbers, tokens, column,
                                                 to.template numbers<N>());
  });
}

/// Calls add(step, i, j, columns.of_step(step, column)) for the chunk's steps and the thread's rows
/// and columns.
template <class N, class Add>
CONELAB_TILE void for_each_step(int thread, const Chunk<N>& columns, const Add& add) {
#pragma unroll 2
  for (int step = 0; step < tile_steps; ++step) {
#pragma unroll
    for (int j = 0; j < column_share; ++j) {
      const N column = columns.of_step(step, column_of(thread, j));
#pragma unroll
      for (int i = 0; i < row_share; ++i) add(step, i, j, column);
    }
  }
}

/// Returns whether numbers of this storage have at most 11 significant bits.
CONELAB_TILE bool is_narrow(Storage storage) {
  return storage == Storage::f16 || storage == Storage::bf16;
}

/// Adds weights * columns to the sum. `weights` has the chunk's lines of SharedTile::weights;
/// `storage` is the type of the numbers that the columns hold.
template <class N>
CONELAB_TILE void multiply_weights(int thread, const N (*weights)[padded], const Chunk<N>& columns,
                                   Storage storage, Fragment<N>& sum) {
  const auto a = [&](int row, int step) { return weights[step][row]; };
  const auto b = [&](int step, int column) { return columns.of_step(step, column); };
  if (is_narrow(storage)) {
    multiply<false>(thread, a, b, sum);
  } else {
    multiply<true>(thread, a, b, sum);
  }
}

/// Adds products as product_tile does, of matrices whose numbers have type T.
template <class T, class N, class Block, class Locals, class Member>
CONELAB_TILE void narrow_product_tile(const Block& block, SharedTile<N>& shared, const Source& a,
                                      int row, const Source& b, Locals& locals, Member member) {
  for (int step = 0; step < a.columns; step += narrow_steps) {
    block.phase([&](int thread) {
      load_narrow<T>(thread, a, Successive{row}, step, shared.rows);
      load_narrow<T>(thread, b, shared.token, step, shared.columns);
    });
    block.phase([&](int thread) {
      const auto left = [&](int r, int s) -> const T& {
        return shared.rows.template of_narrow<T>(r, s);
      };
      const auto right = [&](int c, int s) -> const T& {
        return shared.columns.template of_narrow<T>(c, s);
      };
      multiply_narrow<T>(thread, left, right, locals[thread].*member);
    });
  }
}

/// Adds a b^T of the block's rows and the tile's columns, summed over the columns of a and b. `row`
/// is the block's first token; `member` points to the fragment in a thread's state.
template <class N, class Block, class Locals, class Member>
CONELAB_TILE void product_tile(const Block& block, SharedTile<N>& shared, const Source& a, int row,
                               const Source& b, Locals& locals, Member member) {
  const Storage both = a.storage == b.storage ? a.storage : Storage::f32;
  if (both == Storage::f16) {
    narrow_product_tile<Float16>(block, shared, a, row, b, locals, member);
    return;
  }
  if (both == Storage::bf16) {
    narrow_product_tile<Bfloat16>(block, shared, a, row, b, locals, member);
    return;
  }
  for (int step = 0; step < a.columns; step += tile_steps) {
    block.phase([&](int thread) {
      load_by_token(thread, a, Successive{row}, step, shared.rows);
      load_by_token(thread, b, shared.token, step, shared.columns);
    });
    block.phase([&](int thread) {
      const auto left = [&](int r, int s) { return shared.rows.of_token(r, s); };
      const auto right = [&](int s, int c) { return shared.columns.of_token(c, s); };
      if (is_narrow(b.storage)) {
        multiply<false>(thread, left, right, locals[thread].*member);
      } else {
        multiply<true>(thread, left, right, locals[thread].*member);
      }
    });
  }
}

}  // namespace conelab::gpu
