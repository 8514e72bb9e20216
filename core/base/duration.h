// Durations as text.
#pragma once

#include <string>

namespace conelab {

/// Returns seconds as "7 s", "3:05" or "2:03:05".
[[nodiscard]] std::string clock_text(double seconds);
/// Returns seconds with a unit, as "1.24 ms", "3.2 s", "4:05".
[[nodiscard]] std::string duration_text(double seconds);

/// Returns the remaining seconds if `fraction` took `elapsed` seconds and the pace is constant. It
/// is NaN as long as the fraction is too small to tell.
[[nodiscard]] double remaining_seconds(double elapsed, double fraction);

}  // namespace conelab
