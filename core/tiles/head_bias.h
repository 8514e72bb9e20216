// The bias of one head, tabulated by relative position.
#pragma once

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
  /// The bias of the pair (query, key), and of the keys after it; one number to the left for each
  /// query further down.
  [[nodiscard]] const T* values(std::int64_t query, std::int64_t key) const {
    return table_.data() + index(query, key);
  }
  /// The position of a pair in the table and in sums by relative position: key - query + n_q - 1.
  [[nodiscard]] std::ptrdiff_t index(std::int64_t query, std::int64_t key) const {
    return key - query + extents_.query - 1;
  }
  /// Applies the chain rule: adds dL/dparameters, from dL/dlogit summed by relative position
  /// [n_q + n_k - 1].
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
    return static_cast<double>(index - (extents_.key - 1));
  }
};

}  // namespace conelab
