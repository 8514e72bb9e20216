// Sums over pairs of intervals whose weight decays with the length of their hull, in O(n log n).
//
//   sum_i = sum_j e^{w_i + w_j - (max(U_i, U_j) - min(W_i, W_j))} row_j
//
// where token i is the interval [W_i, U_i] and w_i a weight of its own. An umbral cone in the
// half-plane is such an interval, and the hull of two is the height of their lowest common ancestor
// (interval_attention.h). The weight of a pair is a product of a factor of i and one of j in each
// of four quadrants, by the order of the U and of the W. Tokens are sorted by U and divided into
// halves L and R; with the tokens of both in the order of W, four sweeps (core/simd/sweep.h) take
// running sums from one half to the other:
//
//   from L to R, W_j before W_i   e^{W_j} e^{-U_i}           from R to L   e^{W_j - U_j}
//   from L to R, W_j after W_i    e^{W_i - U_i}              from R to L   e^{-U_j} e^{W_i}
//
// A running sum is relative to the largest weight in it, and a result to the largest sum that it
// has received, so that no exponent exceeds `slack` and no row of tiny weights becomes 0. The
// halves are divided until few tokens remain, whose pairs are summed one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/parallel.h"
#include "core/base/twofold.h"
#include "core/pair/mask.h"
#include "core/simd/sweep.h"

namespace conelab {

/// Tokens of a task that does the same for each of many.
constexpr std::int64_t tokens_of_block = 4096;

/// A coordinate. Differences of two must be as exact as T.
template <class T>
using Coordinate = std::conditional_t<std::is_same_v<T, float>, double, Twofold>;

/// Tokens as intervals.
template <class T>
struct Intervals {
  std::vector<Coordinate<T>> lower, upper;  ///< [tokens] W and U.
  std::vector<Coordinate<T>> weight;        ///< [tokens] w; empty: 0.
  /// Sets the rows [tokens × columns] of these tokens. Called from any thread.
  std::function<void(std::span<const std::int32_t> tokens, T* rows)> set_rows;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(upper.size()); }
};

/// Which pairs are summed.
struct SeenPairs {
  /// [queries] The keys that a query sees. Neither end decreases from a query to the next.
  std::span<const KeyRange> keys;
  bool sums_keys;  ///< Whether the summands are the keys; otherwise they are the queries.
};

/// The sums of tokens. A token may have two rows, which are to be added.
template <class T>
struct QuadrantSums {
  std::vector<std::int32_t> token;       ///< [rows]
  Buffer<T> sum;                         ///< [rows × columns], times e^-reference.
  std::vector<Coordinate<T>> reference;  ///< [rows] -infinity if the token sees no other.
  /// [rows × 2] The products of the token's own row with the sums over the j with U_j < U_i, and
  /// with W_j > W_i. Half of a pair with equal ends is counted. Not relative to a reference.
  std::vector<double> dots;
};

/// Returns the sums of rows, relative to a reference of each token. `columns`, here and below, is
/// the length of a row, a multiple of sweep_columns. The result is the same for any number of
/// threads.
template <class T>
[[nodiscard]] QuadrantSums<T> referred_sums(const Intervals<T>& summands,
                                            const Intervals<T>& outputs, const SeenPairs& seen,
                                            std::ptrdiff_t columns, const Execution& run);

/// Returns the products of sums with the outputs' own rows, and the sums themselves if
/// `wants_sums`. No weight e^{w_i + w_j - hull} may exceed 1; references are 0.
template <class T>
[[nodiscard]] QuadrantSums<T> sums_by_quadrant(const Intervals<T>& summands,
                                               const Intervals<T>& outputs, const SeenPairs& seen,
                                               std::ptrdiff_t columns, bool wants_sums,
                                               const Execution& run);

}  // namespace conelab
