// A study as a report reads it: the folder that `conelab run` has written
// (core/study/study_index.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/study/report_order.h"
#include "core/study/study_index.h"

namespace conelab {

/// Names and values as texts.
using TextPairs = std::vector<std::pair<std::string, std::string>>;

/// Returns the first value with a name; null if there is none.
template <class Value>
[[nodiscard]] const Value* value_at(const std::vector<std::pair<std::string, Value>>& pairs,
                                    std::string_view name) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return &value;
  }
  return nullptr;
}

/// Returns the members of a JSON object as texts: words without quotes, anything else as JSON.
[[nodiscard]] TextPairs texts_of(const nlohmann::ordered_json& object);

struct ReportStudy {
  std::string folder;
  std::string label;  ///< Distinguishes it from the report's other studies.
  StudyIndex index;

  [[nodiscard]] const std::vector<JobRecord>& jobs() const { return index.jobs; }
  /// Returns the path of a job's i-th file.
  [[nodiscard]] std::string path(const JobRecord& job, std::size_t i = 0) const;
  /// Returns the blocks in the order of their first jobs.
  [[nodiscard]] std::vector<ReportBlock> blocks() const;
  /// Returns the study's title, or its label if it has none.
  [[nodiscard]] const std::string& title() const {
    return index.title.empty() ? label : index.title;
  }
  /// Returns the entries of the report's order.
  [[nodiscard]] std::vector<std::string> order() const;
};

/// Reads the studies in these folders. The label of each is its folder's name, with a counter if
/// another one has that name. Throws a failure `DIR/index.json: why` if an index cannot be read, if
/// a finished job names no file, and if a job's file lies outside of the folder.
[[nodiscard]] std::vector<ReportStudy> read_report_studies(const std::vector<std::string>& folders);

}  // namespace conelab
