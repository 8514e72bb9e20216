// A test for infinities and NaN in a row of numbers.
#pragma once

#include <cstdint>

#include "core/base/half.h"

namespace conelab {

/// Returns whether none of the numbers [count] is infinite or NaN. True for count = 0.
template <class S>
[[nodiscard]] bool all_finite(const S* numbers, std::int64_t count) {
  // x * 0 is 0 or NaN. Eight sums without an early exit let the compiler vectorise the loop.
  using T = Compute<S>;
  constexpr std::int64_t width = 8;
  T sums[width] = {};
  const std::int64_t whole = count - count % width;
  for (std::int64_t i = 0; i < whole; i += width) {
    for (std::int64_t k = 0; k < width; ++k) sums[k] += T(numbers[i + k]) * T(0);
  }
  for (std::int64_t i = whole; i < count; ++i) sums[0] += T(numbers[i]) * T(0);
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
             ((sums[4] + sums[5]) + (sums[6] + sums[7])) ==
         0;
}

}  // namespace conelab
