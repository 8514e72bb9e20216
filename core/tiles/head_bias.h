// The bias of one head, tabulated by relative position, or by pair where each has its own.
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
  HeadBias(const Plan& plan, PartValues values);

  /// Whether the plan has a bias.
  [[nodiscard]] bool exists() const { return !table_.empty(); }
  /// Whether some parameter of it is differentiated.
  [[nodiscard]] bool has_gradient() const { return has_gradient_; }
  /// The bias of the pair (query, key), and of the keys after it; `stride` numbers on for each
  /// query further down.
  [[nodiscard]] const T* values(std::int64_t query, std::int64_t key) const {
    return table_.data() + index(query, key);
  }
  [[nodiscard]] std::ptrdiff_t stride() const { return of_pairs() ? extents_.key : -1; }
  /// Whether each pair has a number of its own, which no other pair's gradient is added to.
  [[nodiscard]] bool of_pairs() const { return row_->of_pairs; }
  /// The numbers of the table: relative positions, or pairs.
  [[nodiscard]] std::int64_t count() const {
    return of_pairs() ? extents_.query * extents_.key
                      : std::max<std::int64_t>(0, extents_.query + extents_.key - 1);
  }
  /// The position of a pair in the table and in sums by it: key - query + n_q - 1, or query * n_k +
  /// key.
  [[nodiscard]] std::ptrdiff_t index(std::int64_t query, std::int64_t key) const {
    return of_pairs() ? query * extents_.key + key : key - query + extents_.query - 1;
  }
  /// Applies the chain rule: adds dL/dparameters, from dL/dlogit summed by position in the table
  /// [count].
  void collect(const double* by_offset, PartValues& gradient) const;
  /// The derivative by one number, tabulated as the bias is [n_q + n_k - 1].
  [[nodiscard]] std::vector<T> slope_table(std::size_t parameter) const;

 private:
  const BiasRow* row_;
  Extents extents_;
  PartValues values_;
  Buffer<T> table_;
  bool has_gradient_ = false;

  /// How far a key lies ahead of a query's own position, by its index.
  [[nodiscard]] double offset(std::int64_t index) const {
    return static_cast<double>(of_pairs() ? index : index - (extents_.key - 1));
  }
};

}  // namespace conelab
