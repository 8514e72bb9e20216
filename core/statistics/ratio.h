// Comparison of two cases: the median ratio of their times with a distribution-free interval, and a
// verdict.
//
// Within one run both cases are timed in every round, so that drift of the machine affects both.
// The ratios of the rounds are then samples of their own, and the sign test makes their interval
// exact (interval.h). Across runs there are no such pairs. The interval is then that of the shift
// between two samples of logarithms (Hodges, Lehmann 1963), exact by the Mann-Whitney distribution.
// It cannot account for what changed between the runs: on a drifting machine it claims too much.
// Measured coverages are in datasets/reference_runs/README.md.
#pragma once

#include <vector>

#include "core/statistics/interval.h"

namespace conelab {

enum class Verdict { faster, slower, same, undecided };

/// Returns "faster", "slower", "same" or "undecided".
[[nodiscard]] const char* verdict_name(Verdict verdict);

struct RatioResult {
  Interval ratio;  ///< Time of the second case over time of the first; `coverage` is exact.
  Verdict verdict = Verdict::undecided;  ///< What the second case is, compared with the first.
};

/// Returns `same` if the whole interval lies within a factor of 1 ± margin; otherwise `faster` or
/// `slower` if the interval does not contain 1; otherwise `undecided`. An interval that covers less
/// than `usual_level` is undecided.
[[nodiscard]] Verdict judge(const Interval& ratio, double margin = 0.02);

/// Compares times of the same run. `first` and `second` are in seconds, [round] each. A round in
/// which one of them is missing (NaN, or beyond the end) is left out. At least 6 rounds are needed
/// for a verdict.
[[nodiscard]] RatioResult compare_paired(const std::vector<double>& first,
                                         const std::vector<double>& second, double margin = 0.02);

/// Compares times of independent samples, in any order and number; NaN are left out. At least 4
/// samples of each are needed for a verdict. Above 2500 pairs the Mann-Whitney distribution is
/// approximated by the normal distribution.
[[nodiscard]] RatioResult compare_unpaired(const std::vector<double>& first,
                                           const std::vector<double>& second, double margin = 0.02);

// The A/A control of a benchmark: a case that is measured as two cases must not differ from itself.
// Every sweep publishes how often the verdict says that it does.
//
// Each control yields one comparison. Resampling the rounds of a few controls would repeat the same
// noise and state the rate more precisely than it is known. Measured rates are in
// datasets/reference_runs/README.md.

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
