// The random input of a benchmark's case, and how its results are compared with float64 ones.
//
// Query, key, value and output gradient are N(0,1); key 1 of every head repeats query 0 and key 3
// is query 2 moved by 1e-4, so that close pairs are part of every case. Numbers are rounded to the
// case's type; the float64 problem has the rounded ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/attention/attention.h"
#include "core/bench/sweep.h"

namespace conelab {

/// Tensors [batch × c.head × c.seq_len × c.dim] from a seed; queries and keys in equal number.
[[nodiscard]] AttentionInput<float> random_input(const Case& c, std::int64_t batch,
                                                 std::uint64_t seed);

/// One head of a batch element. Errors are measured head by head: the copies in wider numbers then
/// cost little beside the case itself.
struct HeadIndex {
  std::int64_t batch = 0, head = 0;
};

/// The first `rows` tokens of a head, in float64: [1 × 1 × rows × feature].
template <class S>
[[nodiscard]] Tensor4<double> first_tokens(const Tensor4<S>& from, HeadIndex at,
                                           std::int64_t rows) {
  const std::int64_t feature = from.shape.feature;
  Tensor4<double> to({1, 1, std::min(rows, from.shape.token), feature});
  std::copy_n(from.row(at.batch, at.head, 0), to.shape.token * feature, to.row(0, 0, 0));
  return to;
}

/// The same problem in float64, for the first `rows` queries of a head against all its keys.
template <class S>
[[nodiscard]] AttentionInput<double> exact_input(const AttentionInput<S>& in, HeadIndex at,
                                                 std::int64_t rows) {
  AttentionInput<double> exact;
  exact.query = first_tokens(in.query, at, rows);
  exact.key = first_tokens(in.key, at, in.key.shape.token);
  exact.value = first_tokens(in.value, at, in.value.shape.token);
  exact.output_grad = first_tokens(in.output_grad, at, rows);
  return exact;
}

/// The larger of two errors; NaN where either is, so that a broken result cannot look exact.
[[nodiscard]] inline double worse(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

/// Largest difference over the tokens that `exact` has of this head; NaN where there is one.
template <class S, class Exact>
[[nodiscard]] double largest_difference(const Tensor4<S>& a, HeadIndex at,
                                        const Tensor4<Exact>& exact) {
  const Tensor4<double> part = first_tokens(a, at, exact.shape.token);
  double largest = 0;
  for (std::size_t i = 0; i < part.data.size(); ++i) {
    largest = worse(largest, std::abs(part.data[i] - static_cast<double>(exact.data[i])));
  }
  return largest;
}

}  // namespace conelab
