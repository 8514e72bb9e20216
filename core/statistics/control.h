// The A/A control: cases that are measured twice, as if they were two, must not differ. How often
// the verdict says otherwise is published with every sweep.
//
// One comparison a control: resampling the rounds of few controls would only repeat the same noise
// and state a rate more precise than it is. Measured rates are in ratio.h.
#pragma once

#include <vector>

#include "core/statistics/ratio.h"

namespace conelab {

struct ControlResult {
  std::vector<RatioResult> comparisons;
  double false_positive_rate = 0;  ///< Verdicts faster or slower over comparisons; NaN for none.
  /// Exact 95 % interval of the rate (Clopper, Pearson 1934): few controls say little.
  double rate_low = 0, rate_high = 1;
};

/// first[i] and second[i] are the times [round] of the two copies of one case.
[[nodiscard]] ControlResult control_rate(const std::vector<std::vector<double>>& first,
                                         const std::vector<std::vector<double>>& second,
                                         double margin = 0.02);

}  // namespace conelab
