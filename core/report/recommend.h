// The recommendation of a report: one sentence that the intervals of a table carry.
//
// A row is as good as the best one if its mean is shown to lie at most the entry's margin from the
// best mean: by a one-sided bound of the difference, paired by the keys over which the table
// averages (seeds), whose level is 95 % with Bonferroni's correction over the other rows. Of these
// rows the one with the least value of the entry's key is recommended, and of several the best.
#pragma once

#include "core/report/report.h"

namespace conelab {

/// Returns the sentence for the first study. `table` is one that has the entry's keys and measure;
/// the number of the entry's cost is the one named after the longest beginning of the row's values
/// that there is.
[[nodiscard]] TextPieces recommendation(const RecommendEntry& entry, const Table& table,
                                        const std::vector<Number>& numbers);

}  // namespace conelab
