// The bias of one head, tabulated by relative position, or by pair where each has its own.
//
// On a grid the bias is the sum of one table for each axis, by relative coordinate. A bias of
// queries is a table for each, t_i[c] = scale q_i . shaw_k[c] by clipped relative position c: O(n_q
// k) memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/tiles/clipped_run.h"

namespace conelab {

template <class T>
class HeadBias {
 public:
  /// `values` are the bias's parameters for this head. Throws misuse where the bias overflows at a
  /// position that the plan has.
  HeadBias(const Plan& plan, const PartValues& values);
  /// Tabulates a bias of queries, which are given [n_q x d]; leaves any other as it is. `scale` is
  /// that of the products.
  template <class S>
  void take_queries(const Kernels<T>& kernels, const S* queries, double scale);

  /// Whether the plan has a bias.
  [[nodiscard]] bool exists() const { return !table_.empty(); }
  /// Whether some parameter of it is differentiated.
  [[nodiscard]] bool has_gradient() const { return has_gradient_; }
  /// Whether the biases of a query with successive keys follow each other in one table: always,
  /// except on a grid of several axes and where it is one of queries.
  [[nodiscard]] bool is_one_table() const { return axes_.size() == 1; }
  /// The bias of the pair (query, key), and of the keys after it; `stride` numbers on for each
  /// query further down. Only where there is one table.
  [[nodiscard]] const T* values(std::int64_t query, std::int64_t key) const {
    return table_.data() + index(query, key);
  }
  [[nodiscard]] std::ptrdiff_t stride() const { return of_pairs() ? extents_.key : -1; }
  /// Whether each pair has a number of its own, which no other pair's gradient is added to.
  [[nodiscard]] bool of_pairs() const { return row_->of_pairs; }
  /// Whether each query has a table of its own, which no other query's gradient is added to.
  [[nodiscard]] bool of_queries() const { return row_->of_queries; }
  /// Sets out [count] to the bias of a query with the keys from `key` on.
  void fill(std::int64_t query, std::int64_t key, std::int64_t count, T* out) const;
  /// The position of a pair in the table and in sums by it: key - query + n_q - 1, or query * n_k +
  /// key.
  [[nodiscard]] std::ptrdiff_t index(std::int64_t query, std::int64_t key) const {
    return of_pairs() ? query * extents_.key + key : key - query + extents_.query - 1;
  }
  /// Entries of sums by position in the table.
  [[nodiscard]] std::size_t sums() const;
  /// Adds dL/dlogit [count] of a query with the keys from `key` on to sums by position.
  void add(std::int64_t query, std::int64_t key, std::int64_t count, const T* logit_slope,
           double* by_offset) const;
  /// Applies the chain rule: adds dL/dparameters, from dL/dlogit summed by position in the table.
  void collect(const double* by_offset, PartValues& gradient) const;
  /// The rest of it for a bias of queries: adds dL/dq [n_q x d] and dL/dshaw_k, returns dL/dscale.
  template <class S>
  double collect_queries(const double* by_offset, const S* queries, S* query_grad,
                         PartValues& gradient) const;
  /// The derivative by one number, tabulated as the bias is [n_q + n_k - 1]. Not on a grid.
  [[nodiscard]] std::vector<T> slope_table(std::size_t parameter) const;

 private:
  /// Relative positions [0, count) of a table, the middle of which is offset 0.
  struct Axis {
    PartValues values;     ///< The row's parameters along this axis.
    std::ptrdiff_t first;  ///< Where its part of the table begins.
    std::int64_t count;
    std::int64_t zero;  ///< The position of offset 0.
  };

  const BiasRow* row_;
  Extents extents_;
  std::vector<Axis> axes_;
  Buffer<T> table_;
  std::vector<std::int32_t> coordinate_;  ///< [n_k x axes] Of the keys on a grid.
  std::vector<double> position_keys_;     ///< [2 clip + 1 x d] Of a bias of queries.
  std::int64_t clip_ = 0;
  double scale_ = 0;
  bool has_gradient_ = false;

  void place_keys(const std::vector<std::int64_t>& sides);
  void tabulate(const Plan& plan);
  /// The coordinates [axes] of a key.
  [[nodiscard]] const std::int32_t* point(std::int64_t key) const {
    return coordinate_.data() + key * static_cast<std::int64_t>(axes_.size());
  }
  [[nodiscard]] std::int64_t position(std::int64_t query) const {
    return query + extents_.key - extents_.query;
  }
  [[nodiscard]] std::int64_t positions() const { return 2 * clip_ + 1; }
  [[nodiscard]] ClippedRun run(std::int64_t query, std::int64_t key, std::int64_t count) const {
    return {key - position(query), clip_, count};
  }
};

}  // namespace conelab
