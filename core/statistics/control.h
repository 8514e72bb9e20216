// The A/A control of a benchmark: a case that is measured as two cases must not differ from itself.
// Every sweep publishes how often the verdict says that it does.
//
// Each control yields one comparison. Resampling the rounds of a few controls would repeat the same
// noise and state the rate more precisely than it is known. Measured rates are in
// datasets/reference_runs/README.md.
#pragma once

#include <vector>

#include "core/statistics/ratio.h"

namespace conelab {

struct ControlResult {
  std::vector<RatioResult> comparisons;
  double false_positive_rate = 0;  ///< Fraction of verdicts "faster" or "slower"; NaN for none.
  /// The exact 95 % interval of the rate (Clopper, Pearson 1934). It is wide for few controls.
  double rate_low = 0, rate_high = 1;
};

/// Compares the two copies of each case. first[i] and second[i] hold the times [round] of the
/// copies of case i, in seconds; `margin` is that of `judge` (ratio.h).
[[nodiscard]] ControlResult control_rate(const std::vector<std::vector<double>>& first,
                                         const std::vector<std::vector<double>>& second,
                                         double margin = 0.02);

}  // namespace conelab
