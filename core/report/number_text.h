// A number as a report prints it: as many digits as its interval justifies.
//
// Half of the interval's width has two digits if its first three are below 355, else one (the rule
// of the Particle Data Group, Phys. Rev. D 110, 030001 (2024), section 5.3), and the value ends at
// the same decimal: 0.93123 with the interval ± 0.0042 is 0.931 ± 0.004. A number without an
// interval has four digits; whole numbers below 10⁷ are exact. Very small and large numbers have a
// power of 1000.
#pragma once

#include <string>

#include "core/statistics/interval.h"

namespace conelab {

struct NumberText {
  std::string value = {};   ///< "0.931"; "–" if there is no number.
  std::string spread = {};  ///< "0.004" for an interval that is symmetric as printed; else empty.
  std::string low = {}, high = {};  ///< The bounds of one that is not symmetric; else empty.
  int exponent = 0;                 ///< All of these are multiplied by 10 to this power.
};

/// Rounds the value of an interval, whose bounds are NaN if there is none.
[[nodiscard]] NumberText number_text(const Interval& number);

/// Returns it in UTF-8: "0.931 ± 0.004", "(1.24 ± 0.03) · 10⁻³", "1.24 [1.20, 1.31]".
[[nodiscard]] std::string plain_number(const NumberText& number);
/// Returns it in LaTeX's mathematics: "0.931 \pm 0.004".
[[nodiscard]] std::string latex_number(const NumberText& number);

}  // namespace conelab
