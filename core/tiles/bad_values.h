// Values that are not finite. Products take them as 0, for a weight of 0 times NaN must not reach
// rows that do not see them; afterwards they are added to the rows that do.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/tensor.h"
#include "core/call/plan.h"

namespace conelab {

/// Those of one head.
template <class S>
class BadValues {
  using T = Compute<S>;

 public:
  BadValues() = default;
  /// `keys` (ascending) are those of the head whose values [n_k × d_v] are not finite.
  BadValues(bool einstein, const S* values, std::int64_t value_size,
            std::vector<std::int64_t> keys);

  /// Shows them in a row's output [d_v] as they would in the plain sum: only those that it sees.
  void spoil(const Mask& mask, std::int64_t batch, std::int64_t query, S* output) const;

 private:
  /// Some keys in a row, so that most rows ask a mask for all of them at once.
  struct Part {
    std::size_t first, last;  ///< keys_[first] ... keys_[last]
    Buffer<T> sums;           ///< [d_v] of the numbers that are not finite
  };
  bool einstein_ = false;
  const S* values_ = nullptr;
  std::int64_t value_size_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<Part> parts_;

  /// Adds the numbers of a value that are not finite: all are NaN under the midpoint.
  void add(std::int64_t key, T* sums) const;
  void add_seen(const Part& part, const Mask& mask, std::int64_t batch, std::int64_t query,
                T* sums) const;
};

}  // namespace conelab
