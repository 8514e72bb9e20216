// The values v_j of one head that are not finite. The products use 0 in their place, because a
// weight of 0 times NaN must not reach rows that do not see the value. Afterwards they are added to
// the rows that do.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/tensor.h"
#include "core/call/plan.h"

namespace conelab {

template <class S>
class NonFiniteValues {
  using T = Compute<S>;

 public:
  NonFiniteValues() = default;
  /// `keys` (ascending) are those whose values [n_k × d_v] are not finite.
  NonFiniteValues(Aggregate aggregate, const TokenRows<const S>& values,
                  std::vector<std::int64_t> keys);

  /// Adds the numbers that are not finite, of the keys that the query sees, to its output [d_v].
  /// `element` is batch * heads + head.
  void add_seen(const Mask& mask, std::int64_t element, std::int64_t query, S* output) const;

 private:
  Aggregate aggregate_ = Aggregate::mean;
  TokenRows<const S> values_;
  std::vector<std::int64_t> keys_;
  std::vector<T> sums_;  ///< [d_v] Sums over all keys, for rows that see all of them.

  /// Adds the numbers of a value that are not finite to sums [d_v]. For the midpoint all become
  /// NaN.
  void add(std::int64_t key, T* sums) const;
};

}  // namespace conelab
