// The bias of one head, tabulated by relative position, or by pair where each has its own.
//
// On a grid the bias is the sum of one table for each axis, by relative coordinate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"

namespace conelab {

template <class T>
class HeadBias {
 public:
  /// `values` are the bias's parameters for this head. Throws misuse where the bias overflows at a
  /// position that the plan has.
  HeadBias(const Plan& plan, const PartValues& values);

  /// Whether the plan has a bias.
  [[nodiscard]] bool exists() const { return !table_.empty(); }
  /// Whether some parameter of it is differentiated.
  [[nodiscard]] bool has_gradient() const { return has_gradient_; }
  /// Whether the biases of a query with successive keys follow each other in one table: always,
  /// except on a grid of several axes.
  [[nodiscard]] bool is_one_table() const { return axes_.size() < 2; }
  /// The bias of the pair (query, key), and of the keys after it; `stride` numbers on for each
  /// query further down. Only where there is one table.
  [[nodiscard]] const T* values(std::int64_t query, std::int64_t key) const {
    return table_.data() + index(query, key);
  }
  [[nodiscard]] std::ptrdiff_t stride() const { return of_pairs() ? extents_.key : -1; }
  /// Whether each pair has a number of its own, which no other pair's gradient is added to.
  [[nodiscard]] bool of_pairs() const { return row_->of_pairs; }
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
};

}  // namespace conelab
