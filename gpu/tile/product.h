// Products of tiles in the portable kernels: 64 rows × 64 columns, held by 128 threads with 2 × 16
// numbers each, as tensor cores hold them (PTX ISA, mma.sync m16n8k16 of 16-bit numbers and m16n8k8
// of tf32 numbers).
//
// Where both sides have 16 bits, tensor cores take them as they are. Otherwise they multiply numbers
// of 11 significant bits. A float is the sum of two such numbers but for 2^-23 of it, so that three
// products have float's accuracy: the large parts, and each large part with the other side's small
// part. Numbers of 16 bits have no small part. Tensor cores add in float and truncate sums; a chunk's
// sum is therefore added to the rest by an ordinary addition.
//
// Operands pass through shared memory in chunks of 32 steps, or 64 of 16 bits. The steps of a matrix
// that a thread holds are neighbours, so that one read brings them. The chunks' lines are padded so
// that a warp's reads fall into different banks: 40 steps of a token (80 of 16 bits), or 68 columns
// of a step.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>

#include "gpu/tile/block.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu {

constexpr int tile_rows = 64;
constexpr int tile_columns = 64;
constexpr int tile_steps = 32;
constexpr int narrow_steps = 2 * tile_steps;  ///< Of numbers of 16 bits.
constexpr int padded_steps = tile_steps + 8;
constexpr int padded = tile_columns + 4;
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
/// tokens); by its tokens also of type T, which has 16 bits. Each fills it.
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
/// So many neighbouring numbers, and their bits.
template <class T, int size = at_once<T>>
struct alignas(16) Neighbours {
  T at[size];
};
template <class T>
struct alignas(16) Bits {
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

/// Returns at_once<T> numbers of a row from `column` on, zeros beyond the ends. `aligned` says whether
/// they lie at a multiple of 16 bytes.
template <bool aligned, class T>
CONELAB_TILE Bits<T> read_bits(const T* numbers, const Source& source, int row, int column) {
  const T* line = numbers + static_cast<std::int64_t>(row) * source.stride + column;
  if constexpr (aligned) {
    Bits<T> found = {};
    if (row < source.rows && column < source.columns) found = *reinterpret_cast<const Bits<T>*>(line);
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
      found[m] = read_bits<aligned>(numbers + source.first, source, tokens[first + m * step],
                                    column + at);
    }
#pragma unroll
    for (int m = 0; m < lines / step; ++m) {
      store_bits<T>(found[m], to + (first + m * step) * padded_length + at);
    }
  };
  // Arrays begin at a multiple of 16 bytes.
  constexpr int n = at_once<T>;
  if (source.first % n == 0 && source.stride % n == 0 && source.columns % n == 0) {
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
  load_lines<tile_rows, narrow_steps, 2 * padded_steps>(
      thread, source, static_cast<const T*>(source.data), tokens, step_begin,
      to.template numbers<T>());
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

/// Returns what a tensor core reads of x: its sign, its exponent, and 11 significant bits.
CONELAB_TILE float truncated(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u);
}

/// A number as the sum of two for tensor cores; `split` is false if it is one already. What is lost
/// is 2^-23 of it at most, as of the small part a tensor core reads all but one bit. If the number is
/// not finite, the small part is NaN.
struct Parts {
  float large, small;
};
template <bool split>
CONELAB_TILE Parts parts_of(float x) {
  if constexpr (!split) return {x, 0.0f};
  // Half a unit of the last of the 11 bits is added, so that truncation rounds.
  const float large = truncated(std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + 0x1000u));
  return {large, x - large};
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
          part[j] += truncated(r.small) * c.large + r.large * truncated(c.small) + r.large * c.large;
        }
      }
    }
    for (int j = 0; j < column_share; ++j) sum.at[i][j] += part[j];
  }
}

/// Adds the products of rows and columns of type T over a chunk's steps to sum[i][j].
template <class T, class N>
CONELAB_TILE void multiply_narrow_chunk(int thread, const Chunk<N>& rows, const Chunk<N>& columns,
                                        Fragment<N>& sum) {
  for (int i = 0; i < row_share; ++i) {
    for (int j = 0; j < column_share; ++j) {
      N part = N(0);
      for (int step = 0; step < narrow_steps; ++step) {
        part += static_cast<N>(rows.template of_narrow<T>(row_of(thread, i), step)) *
                static_cast<N>(columns.template of_narrow<T>(column_of(thread, j), step));
      }
      sum.at[i][j] += part;
    }
  }
}

#if defined(__CUDACC__)
/// Adds a thread's parts of a product to its sum.
__device__ __forceinline__ void add_parts(const float (&part)[tile_columns / 8][4],
                                          Fragment<float>& sum) {
#pragma unroll
  for (int e = 0; e < 4; ++e) {
#pragma unroll
    for (int block = 0; block < tile_columns / 8; ++block) {
      sum.at[e / 2][block * 2 + e % 2] += part[block][e];
    }
  }
}

/// Two pairs of 16-bit numbers.
struct alignas(8) Pairs {
  std::uint32_t at[2];
};

/// Adds the product of a warp's matrices [16 × 16] and [16 × 8] of T to a matrix [16 × 8]. `a` has
/// the pairs of rows r and r + 8 of the thread.
template <class T>
__device__ __forceinline__ void multiply_narrow_matrices(float (&sum)[4], const Pairs (&a)[2],
                                                         const Pairs& b) {
#if defined(__CUDA_ARCH__)
#define CONELAB_MULTIPLY(type)                                                                    \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, "           \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                             \
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                    \
      : "r"(a[0].at[0]), "r"(a[1].at[0]), "r"(a[0].at[1]), "r"(a[1].at[1]), "r"(b.at[0]),         \
        "r"(b.at[1]))
  if constexpr (std::is_same_v<T, Float16>) {
    CONELAB_MULTIPLY("f16");
  } else {
    CONELAB_MULTIPLY("bf16");
  }
#undef CONELAB_MULTIPLY
#endif
}

/// The same as multiply_narrow_chunk on a device.
template <class T>
__device__ __forceinline__ void multiply_narrow_on_tensor_cores(int thread,
                                                                const Chunk<float>& rows,
                                                                const Chunk<float>& columns,
                                                                Fragment<float>& sum) {
  constexpr int depth = 16, blocks = tile_columns / 8;
  const int outer = thread % 32 / 4, inner = thread % 4;  // The lane's place in a matrix.
  const auto pairs = [](const Chunk<float>& from, int token, int step) {
    return reinterpret_cast<const Pairs&>(from.of_narrow<T>(token, step));
  };
  float part[blocks][4] = {};
#pragma unroll 1
  for (int step = 4 * inner; step < narrow_steps; step += depth) {
    const Pairs a[2] = {pairs(rows, row_of(thread, 0), step), pairs(rows, row_of(thread, 1), step)};
#pragma unroll
    for (int block = 0; block < blocks; ++block) {
      multiply_narrow_matrices<T>(part[block], a, pairs(columns, block * 8 + outer, step));
    }
  }
  add_parts(part, sum);
}

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
  for (int step = 2 * inner; step < tile_steps; step += depth) {
    float large[4], small[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Parts x = parts_of<split_a>(a(row_of(thread, e % 2), step + e / 2));
      large[e] = x.large;
      small[e] = x.small;
    }
    if constexpr (split_a) multiply_matrices(part_total, small, one);
    multiply_matrices(part_total, large, one);
#pragma unroll
    for (int block = 0; block < blocks; ++block) {
      const int column = block * 8 + outer;
      const Parts x = parts_of<split_b>(b(step, column));
      const Parts y = parts_of<split_b>(b(step + 1, column));
      const float b_large[2] = {x.large, y.large}, b_small[2] = {x.small, y.small};
      if constexpr (split_a) multiply_matrices(part[block], small, b_large);
      if constexpr (split_b) multiply_matrices(part[block], large, b_small);
      multiply_matrices(part[block], large, b_large);
    }
  }
  add_parts(part, sum);
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
#if defined(__CUDA_ARCH__)
      multiply_narrow_on_tensor_cores<T>(thread, shared.rows, shared.columns,
                                         locals[thread].*member);
#else
      multiply_narrow_chunk<T>(thread, shared.rows, shared.columns, locals[thread].*member);
#endif
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
      multiply<true, true>(thread, left, right, locals[thread].*member);
    });
  }
}

}  // namespace conelab::gpu
