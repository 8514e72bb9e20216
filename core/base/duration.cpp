#include "core/base/duration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace conelab {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string duration_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  return clock_text(seconds);
}

double remaining_seconds(double elapsed, double fraction) {
  constexpr double least = 0.005;
  return fraction >= least ? elapsed * (1 - fraction) / fraction
                           : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace conelab
