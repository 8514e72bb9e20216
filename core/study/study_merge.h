// Joins the folders of a sharded study (study_index.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/study/study_index.h"

namespace conelab {

struct MergeResult {
  StudyIndex index;
  /// One line each: results that several folders hold alike, and results of one job that differ, of
  /// which the first was kept.
  std::vector<std::string> duplicates, conflicts;
};

/// Copies the results of all folders to `output` and writes its index. An index that is there
/// already counts as the first of the folders, so that a second merge changes nothing. Throws
/// misuse if the folders hold different studies, a failure if one cannot be read or written, and
/// interrupted once `cancelled` returns true.
[[nodiscard]] MergeResult merge_studies(const std::vector<std::string>& folders,
                                        const std::string& output,
                                        const std::function<bool()>& cancelled);

}  // namespace conelab
