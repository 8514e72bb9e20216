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

/// Some queries of a head, by which an error is measured.
struct QueryRange {
  std::int64_t begin = 0, count = 0;
};

/// `count` of `all` queries. Few queries against all keys stand at the end of the sequence: so they
/// have to be its last ones for a call that looks at positions, by a bias or a mask. For any other
/// they are the first ones, among which are the planted twins.
[[nodiscard]] QueryRange checked_queries(const Call& call, std::int64_t count, std::int64_t all);

/// Tokens of a head, in float64: [1 × 1 × count × feature].
template <class S>
[[nodiscard]] Tensor4<double> tokens_of(const Tensor4<S>& from, HeadIndex at, QueryRange range) {
  const std::int64_t feature = from.shape.feature;
  Tensor4<double> to({1, 1, range.count, feature});
  std::copy_n(from.row(at.batch, at.head, range.begin), to.shape.token * feature, to.row(0, 0, 0));
  return to;
}

/// The same problem in float64, for some queries of a head against all its keys.
template <class S>
[[nodiscard]] AttentionInput<double> exact_input(const AttentionInput<S>& in, HeadIndex at,
                                                 QueryRange queries) {
  const QueryRange keys{0, in.key.shape.token};
  AttentionInput<double> exact;
  exact.query = tokens_of(in.query, at, queries);
  exact.key = tokens_of(in.key, at, keys);
  exact.value = tokens_of(in.value, at, keys);
  exact.output_grad = tokens_of(in.output_grad, at, queries);
  return exact;
}

/// The larger of two errors; NaN where either is, so that a broken result cannot look exact.
[[nodiscard]] inline double worse(double a, double b) { return std::isnan(a) || a >= b ? a : b; }

/// Largest difference over the tokens of this head that `exact` has, the first of which is token
/// `begin`; NaN where there is one.
template <class S, class Exact>
[[nodiscard]] double largest_difference(const Tensor4<S>& a, HeadIndex at, std::int64_t begin,
                                        const Tensor4<Exact>& exact) {
  const Tensor4<double> part = tokens_of(a, at, {begin, exact.shape.token});
  double largest = 0;
  for (std::size_t i = 0; i < part.data.size(); ++i) {
    largest = worse(largest, std::abs(part.data[i] - static_cast<double>(exact.data[i])));
  }
  return largest;
}

}  // namespace conelab
