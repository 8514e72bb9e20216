// Durations as text.
#pragma once

#include <string>

namespace conelab {

/// Returns seconds as "7 s", "3:05" or "2:03:05".
[[nodiscard]] std::string clock_text(double seconds);
/// Returns seconds with a unit, as "1.24 ms", "3.2 s", "4:05".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace conelab
