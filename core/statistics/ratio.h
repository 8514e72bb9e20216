// Which of two is faster: median ratios of times with distribution-free intervals, and a verdict.
//
// Within one run both are timed in every round, so drift of the machine hits both: the ratios of a
// round are samples of their own, and the sign test makes their interval exact. Across runs there
// are no pairs: the interval is that of the shift between two samples of logarithms (Hodges,
// Lehmann 1963, exact by the Mann-Whitney distribution). It knows nothing of what changed between
// the runs.
//
// Measured, 20000 runs of five interleaved cases each, the exact coverage for n = 6, 8, 9, 12, 20
// being 96.9, 99.2, 96.1, 96.1, 95.9 %. compare_paired kept within 0.3 of it for log-normal, skewed
// and Cauchy-tailed noise, a tenth of the samples hit, bursts and a random walk of 3 % a sample,
// and was up to 2 above it under a trend of 30 % over the run. It called two copies of one case
// different in 0.3-4.5 % of runs (1.6-4.5 % but for n = 8), even with a margin of 0.
// compare_unpaired (4000 runs) kept within 0.8 of its statement, and at most 5.2 % false verdicts,
// only where the samples are independent. Across runs of a drifting machine it is not to be
// trusted: bursts some samples long gave 91-93 % and 7-9 % false verdicts, a trend of 30 % with a
// walk of 1 % a sample 59 % and 42 % at n = 20, a walk of 3 % a sample 25-50 % and 50-75 %.
#pragma once

#include <vector>

#include "core/statistics/interval.h"

namespace conelab {

enum class Verdict { faster, slower, same, undecided };

/// "faster", "slower", "same", "undecided".
[[nodiscard]] const char* verdict_name(Verdict verdict);

struct RatioResult {
  Interval ratio;  ///< Time of the second over time of the first; `coverage` is exact.
  Verdict verdict = Verdict::undecided;  ///< Of the second against the first.
};

/// same: the whole interval lies within a factor of 1 ± margin; otherwise faster or slower where 1
/// is outside of it, or undecided. An interval that covers less than `level` decides nothing.
[[nodiscard]] Verdict judge(const Interval& ratio, double margin = 0.02,
                            double level = usual_level);

/// `first` and `second` are times in seconds, [round] each; rounds in which either is missing (NaN,
/// or beyond the shorter one) are left out. Decides from 6 rounds on.
[[nodiscard]] RatioResult compare_paired(const std::vector<double>& first,
                                         const std::vector<double>& second, double margin = 0.02);

/// Times in any order and number, of independent samples; NaN are left out. Decides from 4 against
/// 4 on; beyond 2500 pairs by the normal approximation of the Mann-Whitney distribution.
[[nodiscard]] RatioResult compare_unpaired(const std::vector<double>& first,
                                           const std::vector<double>& second, double margin = 0.02);

}  // namespace conelab
