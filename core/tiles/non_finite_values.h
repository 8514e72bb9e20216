// Values v_j that are not finite. Products take them as 0, for a weight of 0 times NaN must not
// reach rows that do not see them; afterwards they are added to the rows that do.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/tensor.h"
#include "core/call/plan.h"

namespace conelab {

/// Those of one head.
template <class S>
class NonFiniteValues {
  using T = Compute<S>;

 public:
  NonFiniteValues() = default;
  /// `keys` (ascending) are those of the head whose values [n_k × d_v] are not finite.
  NonFiniteValues(Aggregate aggregate, const S* values, std::int64_t value_size,
                  std::vector<std::int64_t> keys);

  /// Adds to a row's output [d_v] the numbers that are not finite, of the keys that the row sees.
  void add_seen(const Mask& mask, std::int64_t batch, std::int64_t query, S* output) const;

 private:
  Aggregate aggregate_ = Aggregate::mean;
  const S* values_ = nullptr;
  std::int64_t value_size_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<T> sums_;  ///< [d_v] of all keys: what most rows see.

  /// Adds the numbers of a value that are not finite: all are NaN under the midpoint.
  void add(std::int64_t key, T* sums) const;
};

}  // namespace conelab
