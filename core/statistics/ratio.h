// Which of two is faster: median ratios of times with distribution-free intervals, and a verdict.
//
// Within one run both are timed in every round, so drift of the machine hits both: the ratios of a
// round are samples of their own, and the sign test makes their interval exact. Across runs there
// are no pairs: the interval is that of the shift between two samples of logarithms (Hodges,
// Lehmann 1963, exact by the Mann-Whitney distribution). It knows nothing of what changed between
// the runs.
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
[[nodiscard]] Verdict judge(const Interval& ratio, double margin = 0.02, double level = 0.95);

/// `first` and `second` are times in seconds, [round] each; rounds in which either is missing (NaN,
/// or beyond the shorter one) are left out. Decides from 6 rounds on.
[[nodiscard]] RatioResult compare_paired(const std::vector<double>& first,
                                         const std::vector<double>& second, double margin = 0.02);

/// Times in any order and number; NaN are left out. Decides from 4 against 4 on.
[[nodiscard]] RatioResult compare_unpaired(const std::vector<double>& first,
                                           const std::vector<double>& second, double margin = 0.02);

}  // namespace conelab
