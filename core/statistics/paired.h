// Says whether two things that were measured in pairs differ: Student's t test of the differences,
// and Holm's correction for many such tests (Scandinavian Journal of Statistics 6, 1979).
#pragma once

#include <vector>

#include "core/statistics/interval.h"

namespace conelab {

struct PairedDifference {
  Interval mean;  ///< Of second - first, with the interval of Student's t.
  double p = 0;   ///< Of the two-sided test that the mean is 0; NaN for fewer than two pairs.
};

/// Compares [pairs] numbers; a pair with NaN is left out. If all differences are equal, p is 0, or
/// 1 if they are 0.
[[nodiscard]] PairedDifference paired_difference(const std::vector<double>& first,
                                                 const std::vector<double>& second);

/// Returns the p values of tests that are made together: of m values, the i-th smallest becomes the
/// largest of (m - j + 1) p_j over j <= i, at most 1. If each test with a value below 0.05 is
/// believed, a wrong one is among them with a probability of at most 0.05. NaN stays, uncounted.
[[nodiscard]] std::vector<double> holm_corrected(const std::vector<double>& p);

}  // namespace conelab
