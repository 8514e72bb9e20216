// Products of matrices by 128 threads in the portable kernels: 64 rows × 64 columns, of which a
// thread holds 2 × 16 numbers, as tensor cores hold them (PTX ISA, mma.sync m16n8k16 of 16-bit
// numbers and m16n8k8 of tf32 numbers).
//
// Tensor cores take both sides as they are if these have 16 bits. Otherwise they multiply
// numbers of 11 significant bits. A float is the sum of two such numbers but for 2^-23 of it, so
// that three products have float's accuracy: the large parts, and each large part with the other
// side's small part. Numbers of 16 bits have no small part. Tensor cores add in float and truncate
// sums; the sum of a chunk of steps is therefore added to the rest by an ordinary addition.
//
// Which step a lane has at which place of a matrix does not matter, as long as both sides agree. A
// lane has neighbouring steps, so that one read of shared memory brings them.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/base/half.h"
#include "gpu/tile/block.h"

namespace conelab::gpu {

constexpr int tile_rows = 64;
constexpr int tile_columns = 64;
constexpr int tile_steps = 32;
constexpr int narrow_steps = 2 * tile_steps;  ///< Of numbers of 16 bits.
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

/// Sets all numbers to 0.
template <class N>
CONELAB_TILE void clear(Fragment<N>& f) {
#pragma unroll
  for (int i = 0; i < row_share; ++i) {
#pragma unroll
    for (int j = 0; j < column_share; ++j) f.at[i][j] = N(0);
  }
}

/// Returns what a tensor core reads of x: its sign, its exponent, and 11 significant bits.
CONELAB_TILE float truncated(float x) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xffffe000u);
}

/// A number as the sum of two for tensor cores; `split` is false if it is one already. What is lost
/// is 2^-23 of it at most, as of the small part a tensor core reads all but one bit. If the number
/// is not finite, the small part is NaN.
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
/// total[i]. `a` and `b` read shared memory; split_b says whether the numbers of `b` have
/// more than 11 bits.
template <bool split_b, class N, class A, class B>
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
          const Parts r = parts_of<true>(row), c = parts_of<split_b>(column);
          part[j] +=
              truncated(r.small) * c.large + r.large * truncated(c.small) + r.large * c.large;
        }
      }
    }
    for (int j = 0; j < column_share; ++j) sum.at[i][j] += part[j];
  }
}

/// Adds a(row, step) * b(column, step) of numbers of 16 bits over a chunk's steps to sum[i][j].
template <class N, class A, class B>
CONELAB_TILE void multiply_narrow_chunk(int thread, const A& a, const B& b, Fragment<N>& sum) {
  for (int i = 0; i < row_share; ++i) {
    for (int j = 0; j < column_share; ++j) {
      N part = N(0);
      for (int step = 0; step < narrow_steps; ++step) {
        part += static_cast<N>(a(row_of(thread, i), step)) *
                static_cast<N>(b(column_of(thread, j), step));
      }
      sum.at[i][j] += part;
    }
  }
}

/// Pairs holds two pairs of 16-bit numbers. Memory may hold the numbers themselves at the same
/// place.
struct alignas(8) [[gnu::may_alias]] Pairs {
  std::uint32_t at[2];
};

#if defined(__CUDACC__)
/// The name of a 16-bit type in instructions.
template <class T>
inline constexpr char type_name[] = "bf16";
template <>
inline constexpr char type_name<Float16>[] = "f16";

/// A warp's tensor core. Its calls add the product of a matrix of 16 rows and one of 8 columns to
/// the sum of 16 × 8 numbers.
struct TensorCore {
  /// Matrices [16 × 8] and [8 × 8] of tf32 numbers.
  __device__ __forceinline__ void operator()(float (&sum)[4], const float (&a)[4],
                                             const float (&b)[2]) const {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
  }
  /// Matrices [16 × 16] and [16 × 8] of type T.
  template <class T>
  __device__ __forceinline__ void narrow(float (&sum)[4], const std::uint32_t (&a)[4],
                                         const Pairs& b) const {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.%10.%10.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.at[0]), "r"(b.at[1]),
          "C"(type_name<T>));
  }
};
#endif

/// A thread's sums of a chunk: four numbers of every 8 columns.
using ChunkSums = float[tile_columns / 8][4];

CONELAB_TILE void add_chunk(const ChunkSums& chunk, Fragment<float>& sum) {
#pragma unroll
  for (int e = 0; e < 4; ++e) {
#pragma unroll
    for (int block = 0; block < tile_columns / 8; ++block) {
      sum.at[e / 2][block * 2 + e % 2] += chunk[block][e];
    }
  }
}

/// The same as multiply_narrow_chunk on a tensor core.
template <class T, class Core, class A, class B>
CONELAB_TILE void multiply_narrow_on(Core&& core, int thread, const A& a, const B& b,
                                     Fragment<float>& sum) {
  const int outer = thread % 32 / 4, inner = thread % 4;  // The lane's place in a matrix.
  ChunkSums chunk = {};
#pragma unroll 1
  for (int step = 4 * inner; step < narrow_steps; step += 16) {
    const auto& low = reinterpret_cast<const Pairs&>(a(row_of(thread, 0), step));
    const auto& high = reinterpret_cast<const Pairs&>(a(row_of(thread, 1), step));
    const std::uint32_t left[4] = {low.at[0], high.at[0], low.at[1], high.at[1]};
#pragma unroll
    for (int block = 0; block < tile_columns / 8; ++block) {
      const auto& right = reinterpret_cast<const Pairs&>(b(block * 8 + outer, step));
      core.template narrow<T>(chunk[block], left, right);
    }
  }
  add_chunk(chunk, sum);
}

/// The same as multiply_chunk on a tensor core.
template <bool split_b, class Core, class A, class B>
CONELAB_TILE void multiply_on(Core&& core, int thread, const A& a, const B& b, Fragment<float>& sum,
                              float (&total)[row_share]) {
  const int outer = thread % 32 / 4, inner = thread % 4;
  const float one[2] = {1.0f, 1.0f};
  ChunkSums chunk = {};
  float chunk_total[4] = {};
#pragma unroll 1
  for (int step = 2 * inner; step < tile_steps; step += 8) {
    float large[4], small[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Parts x = parts_of<true>(a(row_of(thread, e % 2), step + e / 2));
      large[e] = x.large;
      small[e] = x.small;
    }
    core(chunk_total, small, one);
    core(chunk_total, large, one);
#pragma unroll
    for (int block = 0; block < tile_columns / 8; ++block) {
      const Parts x = parts_of<split_b>(b(step, block * 8 + outer));
      const Parts y = parts_of<split_b>(b(step + 1, block * 8 + outer));
      const float b_large[2] = {x.large, y.large}, b_small[2] = {x.small, y.small};
      core(chunk[block], small, b_large);
      if constexpr (split_b) core(chunk[block], large, b_small);
      core(chunk[block], large, b_large);
    }
  }
  add_chunk(chunk, sum);
  total[0] += chunk_total[0];
  total[1] += chunk_total[2];
}

/// Adds a(row, step) * b(step, column) over the chunk's steps to the sum, and a(row, step) to
/// `total`.
template <bool split_b, class N, class A, class B>
CONELAB_TILE void multiply_with_totals(int thread, const A& a, const B& b, Fragment<N>& sum,
                                       N (&total)[row_share]) {
#if defined(__CUDA_ARCH__)
  multiply_on<split_b>(TensorCore(), thread, a, b, sum, total);
#else
  multiply_chunk<split_b>(thread, a, b, sum, total);
#endif
}

/// Does the same without totals.
template <bool split_b, class N, class A, class B>
CONELAB_TILE void multiply(int thread, const A& a, const B& b, Fragment<N>& sum) {
  N unused[row_share] = {};
  multiply_with_totals<split_b>(thread, a, b, sum, unused);
}

/// Adds a(row, step) * b(column, step) of numbers of type T, which has 16 bits, over the chunk's
/// steps to the sum.
template <class T, class N, class A, class B>
CONELAB_TILE void multiply_narrow(int thread, const A& a, const B& b, Fragment<N>& sum) {
#if defined(__CUDA_ARCH__)
  multiply_narrow_on<T>(TensorCore(), thread, a, b, sum);
#else
  multiply_narrow_chunk(thread, a, b, sum);
#endif
}

}  // namespace conelab::gpu
