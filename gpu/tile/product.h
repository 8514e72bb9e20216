// Products of tiles in the portable kernels: 64 rows × 64 columns, held by 128 threads with 2 × 16
// numbers each, as tensor cores hold them (PTX ISA, mma.sync m16n8k8 of tf32 numbers).
//
// A tensor core multiplies numbers of 11 significant bits and adds in float. A float is the sum of
// two such numbers but for 2^-22 of it, so that three products have float's accuracy: the large
// parts, and each large part with the other side's small part. Numbers of 16 bits have no small
// part. Tensor cores truncate sums; a chunk's sum is therefore added to the rest by an ordinary
// addition.
//
// Operands pass through shared memory in chunks of 32 steps. Their lines are padded so that a
// warp's reads fall into different banks: 36 steps of a token, or 72 columns of a step.
#pragma once

#include <bit>

#include "gpu/tile/block.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu {

constexpr int tile_rows = 64;
constexpr int tile_columns = 64;
constexpr int tile_steps = 32;
constexpr int padded_steps = tile_steps + 4;
constexpr int padded = tile_columns + 8;
constexpr int row_share = 2;
constexpr int column_share = 16;
constexpr int row_threads = tile_columns / column_share;  ///< The threads that share a row.

/// Return the tile's row and column of a thread's element [i][j]. A warp has 16 rows.
CONELAB_TILE constexpr int row_of(int thread, int i) {
  return thread / 32 * 16 + thread % 32 / row_threads + 8 * i;
}
CONELAB_TILE constexpr int column_of(int thread, int j) {
  return j / 2 * 8 + thread % row_threads * 2 + j % 2;
}

/// A thread's part of a tile: element [i][j] is that at (row_of(thread, i), column_of(thread, j)).
template <class N>
struct Fragment {
  N at[row_share][column_share];
};

/// A chunk of an operand, by its tokens (steps are columns of a matrix) or by its steps (which are
/// tokens). Both fill it.
template <class N>
struct Chunk {
  alignas(32) N at[tile_rows * padded_steps];
  CONELAB_TILE N& of_token(int token, int step) { return at[token * padded_steps + step]; }
  CONELAB_TILE N of_token(int token, int step) const { return at[token * padded_steps + step]; }
  CONELAB_TILE N& of_step(int step, int column) { return at[step * padded + column]; }
  CONELAB_TILE N of_step(int step, int column) const { return at[step * padded + column]; }
};
static_assert(tile_rows * padded_steps == tile_steps * padded);

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

/// Calls f(numbers) for the numbers of a source, a pointer to their type. The loops of `f` are
/// compiled for each type, so that no number is tested for it.
template <class N, class F>
CONELAB_TILE void with_numbers(const Source& source, const F& f) {
  switch (source.storage) {
    case Storage::f64:
      if constexpr (sizeof(N) == 8) f(static_cast<const double*>(source.data) + source.first);
      break;
    case Storage::f32:
      f(static_cast<const float*>(source.data) + source.first);
      break;
    case Storage::f16:
      f(static_cast<const Float16*>(source.data) + source.first);
      break;
    case Storage::bf16:
      f(static_cast<const Bfloat16*>(source.data) + source.first);
      break;
  }
}

/// Four neighbouring numbers of a line.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

/// Returns whether every four numbers of a source's lines, from a multiple of four on, lie at an
/// address that is a multiple of their size. Arrays begin at such an address.
CONELAB_TILE bool has_fours(const Source& source) {
  return source.first % 4 == 0 && source.stride % 4 == 0 && source.columns % 4 == 0;
}

/// Returns numbers [column, column + 4) of a row, zeros beyond the ends. What lies beyond the last
/// row is read there and dropped, so that no thread branches. `fours` is has_fours(source).
template <class N, class T>
CONELAB_TILE Four<N> four_numbers(const T* numbers, const Source& source, int row, int column,
                                  bool fours) {
  const bool inside = row < source.rows && column < source.columns;
  const T* line = numbers + static_cast<std::int64_t>(row < source.rows ? row : source.rows - 1) *
                                source.stride;
  Four<N> found;
  if (fours) {
    const auto four = *reinterpret_cast<const Four<T>*>(line + (inside ? column : 0));
#pragma unroll
    for (int e = 0; e < 4; ++e) found.at[e] = inside ? static_cast<N>(four.at[e]) : N(0);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const bool present = inside && column + e < source.columns;
      found.at[e] = present ? static_cast<N>(line[column + e]) : N(0);
    }
  }
  return found;
}

/// Loads a chunk by tokens: of_token(r, step) = source(tokens[r], step_begin + step).
template <class N, class Tokens>
CONELAB_TILE void load_by_token(int thread, const Source& source, const Tokens& tokens,
                                int step_begin, Chunk<N>& to) {
  constexpr int of_line = tile_steps / 4;
  const int step = thread % of_line * 4;
  const bool fours = has_fours(source);
  with_numbers<N>(source, [&](const auto* numbers) {
#pragma unroll
    for (int m = 0; m < tile_rows * of_line / tile_threads; ++m) {
      const int r = thread / of_line + m * (tile_threads / of_line);
      reinterpret_cast<Four<N>&>(to.of_token(r, step)) =
          four_numbers<N>(numbers, source, tokens[r], step_begin + step, fours);
    }
  });
}

/// Loads a chunk by steps: of_step(step, c) = source(tokens[step], column + c).
template <class N>
CONELAB_TILE void load_by_step(int thread, const Source& source, const int* tokens, int column,
                               Chunk<N>& to) {
  constexpr int of_line = tile_columns / 4;
  const int c = thread % of_line * 4;
  const bool fours = has_fours(source);
  with_numbers<N>(source, [&](const auto* numbers) {
#pragma unroll
    for (int m = 0; m < tile_steps * of_line / tile_threads; ++m) {
      const int step = thread / of_line + m * (tile_threads / of_line);
      reinterpret_cast<Four<N>&>(to.of_step(step, c)) =
          four_numbers<N>(numbers, source, tokens[step], column + c, fours);
    }
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

/// Returns the number of 11 significant bits next to x, of two that are equally near the one that
/// is larger in magnitude. What is not finite stays so.
CONELAB_TILE float to_tf32(float x) {
#if defined(__CUDA_ARCH__)
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
#else
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  return std::bit_cast<float>((bits + 0x1000u) & 0xffffe000u);
#endif
}

/// A number as the sum of two for tensor cores; `split` is false if it is one already.
struct Parts {
  float large, small;
};
template <bool split>
CONELAB_TILE Parts parts_of(float x) {
  if constexpr (!split) return {x, 0.0f};
  const float large = to_tf32(x);
  return {large, to_tf32(x - large)};
}

/// Adds a(row, step) * b(step, column) over the chunk's steps to sum[i][j], and a(row, step) to
/// total[i]. `a` and `b` read shared memory. split_a and split_b say whether their numbers have
/// more than 11 bits.
template <bool split_a, bool split_b, class N, class A, class B>
CONELAB_TILE void multiply_chunk(int thread, const A& a, const B& b, Fragment<N>& sum,
                                 N (&total)[row_share]) {
  for (int i = 0; i < row_share; ++i) {
    N part[column_share] = {};
    for (int step = 0; step < tile_steps; ++step) {
      const N row = a(row_of(thread, i), step);
      total[i] += row;
      for (int j = 0; j < column_share; ++j) {
        const N column = b(step, column_of(thread, j));
        if constexpr (sizeof(N) == 8) {
          part[j] += row * column;
        } else {
          const Parts r = parts_of<split_a>(row), c = parts_of<split_b>(column);
          part[j] += r.small * c.large + r.large * c.small + r.large * c.large;
        }
      }
    }
    for (int j = 0; j < column_share; ++j) sum.at[i][j] += part[j];
  }
}

#if defined(__CUDACC__)
/// Adds the product of a warp's matrices [16 × 8] and [8 × 8] to a matrix [16 × 8].
__device__ __forceinline__ void multiply_matrices(float (&sum)[4], const float (&a)[4],
                                                  const float (&b)[2]) {
#if defined(__CUDA_ARCH__)
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
        "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
#endif
}

/// The same as multiply_chunk on a device.
template <bool split_a, bool split_b, class A, class B>
__device__ __forceinline__ void multiply_on_tensor_cores(int thread, const A& a, const B& b,
                                                         Fragment<float>& sum,
                                                         float (&total)[row_share]) {
  constexpr int depth = 8, blocks = tile_columns / 8;
  const int outer = thread % 32 / 4, inner = thread % 4;  // The lane's place in a matrix.
  const float one[2] = {1.0f, 1.0f};
  float part[blocks][4] = {};
  float part_total[4] = {};
#pragma unroll 1
  for (int step = inner; step < tile_steps; step += depth) {
    float large[4], small[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Parts x = parts_of<split_a>(a(row_of(thread, e % 2), step + e / 2 * 4));
      large[e] = x.large;
      small[e] = x.small;
    }
    if constexpr (split_a) multiply_matrices(part_total, small, one);
    multiply_matrices(part_total, large, one);
#pragma unroll
    for (int block = 0; block < blocks; ++block) {
      const int column = block * 8 + outer;
      const Parts x = parts_of<split_b>(b(step, column));
      const Parts y = parts_of<split_b>(b(step + 4, column));
      const float b_large[2] = {x.large, y.large}, b_small[2] = {x.small, y.small};
      if constexpr (split_a) multiply_matrices(part[block], small, b_large);
      if constexpr (split_b) multiply_matrices(part[block], large, b_small);
      multiply_matrices(part[block], large, b_large);
    }
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
#pragma unroll
    for (int block = 0; block < blocks; ++block) {
      sum.at[e / 2][block * 2 + e % 2] += part[block][e];
    }
  }
  total[0] += part_total[0];
  total[1] += part_total[2];
}
#endif

/// Adds a(row, step) * b(step, column) over the chunk's steps to the sum, and a(row, step) to
/// `total`.
template <bool split_a, bool split_b, class N, class A, class B>
CONELAB_TILE void multiply_with_totals(int thread, const A& a, const B& b, Fragment<N>& sum,
                                       N (&total)[row_share]) {
#if defined(__CUDA_ARCH__)
  multiply_on_tensor_cores<split_a, split_b>(thread, a, b, sum, total);
#else
  multiply_chunk<split_a, split_b>(thread, a, b, sum, total);
#endif
}

/// Returns whether numbers of this storage have at most 11 significant bits.
CONELAB_TILE bool is_narrow(Storage storage) {
  return storage == Storage::f16 || storage == Storage::bf16;
}

/// Does the same without totals.
template <bool split_a, bool split_b, class N, class A, class B>
CONELAB_TILE void multiply(int thread, const A& a, const B& b, Fragment<N>& sum) {
  N unused[row_share] = {};
  multiply_with_totals<split_a, split_b>(thread, a, b, sum, unused);
}

/// Adds weights * columns to the sum. `weights` has the chunk's lines of SharedTile::weights;
/// `storage` is the type of the numbers that the columns hold.
template <class N>
CONELAB_TILE void multiply_weights(int thread, const N (*weights)[padded], const Chunk<N>& columns,
                                   Storage storage, Fragment<N>& sum) {
  const auto a = [&](int row, int step) { return weights[step][row]; };
  const auto b = [&](int step, int column) { return columns.of_step(step, column); };
  if (is_narrow(storage)) {
    multiply<true, false>(thread, a, b, sum);
  } else {
    multiply<true, true>(thread, a, b, sum);
  }
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
      load_by_token(thread, a, Successive{row}, step, shared.rows);
      load_by_token(thread, b, shared.token, step, shared.columns);
    });
    block.phase([&](int thread) {
      const auto left = [&](int r, int s) { return shared.rows.of_token(r, s); };
      const auto right = [&](int s, int c) { return shared.columns.of_token(c, s); };
      if (is_narrow(a.storage) && is_narrow(b.storage)) {
        multiply<false, false>(thread, left, right, locals[thread].*member);
      } else {
        multiply<true, true>(thread, left, right, locals[thread].*member);
      }
    });
  }
}

}  // namespace conelab::gpu
