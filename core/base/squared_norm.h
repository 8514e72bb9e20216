// |x|^2 of a row of numbers.
#pragma once

#include <cstdint>

namespace conelab {

/// Returns |x|^2 of x [count] in double; 0 if count is 0. Eight partial sums hide the latency of
/// the additions and let the compiler vectorise the loop.
template <class T>
[[nodiscard]] double squared_norm(const T* x, std::int64_t count) {
  constexpr std::int64_t width = 8;
  double sums[width] = {};
  const std::int64_t whole = count - count % width;
  for (std::int64_t i = 0; i < whole; i += width) {
    for (std::int64_t k = 0; k < width; ++k) {
      const auto value = static_cast<double>(x[i + k]);
      sums[k] += value * value;
    }
  }
  for (std::int64_t i = whole; i < count; ++i) {
    sums[i % width] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace conelab
