// What `conelab run` left in a folder: the jobs of a study with their files, read from the folder's
// index.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/study/report_order.h"

namespace conelab {

/// Names and values as texts, in the order of the file.
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

struct StudyJob {
  std::string block, kind;
  std::string name;  ///< The block, then the swept values: "points-dot-2-1".
  TextPairs sweep;   ///< The swept keys with this job's values, in the order of the study.
  std::string key;   ///< Identifies the job: a SHA-256 in hexadecimal digits.
  std::vector<std::string> files;  ///< Its results, relative to the folder.
  /// The digest of a result's content as its seal states it; of a figure, that of its first file.
  std::string digest;
  std::string status;                        ///< "done", "failed", "waiting" or "pending".
  std::string error;                         ///< Why it failed.
  std::string command;                       ///< The command that does the same.
  std::vector<std::string> inputs, remarks;  ///< Keys of the jobs that it reads; what it remarked.
  double seconds = 0;
  std::vector<std::pair<std::string, double>> measures;  ///< NaN for values that are no numbers.

  [[nodiscard]] bool done() const { return status == "done"; }
};

struct StudyResults {
  std::string folder;
  std::string label;  ///< Distinguishes it from the report's other studies.
  std::string title, program;
  std::string seed;  ///< As text.
  bool quick = false;
  TextPairs machine;
  std::vector<std::string> order;  ///< The entries of its report.
  std::vector<StudyJob> jobs;

  /// Returns the path of a job's i-th file.
  [[nodiscard]] std::string path(const StudyJob& job, std::size_t i = 0) const;
  /// Returns the blocks in the order of their first jobs.
  [[nodiscard]] std::vector<ReportBlock> blocks() const;
};

/// Reads DIR/index.json. Throws a failure `DIR/index.json: why` if it is missing, is not JSON, or
/// lacks a member, and for a path of a job's file that leads out of the folder.
[[nodiscard]] StudyResults read_study_results(const std::string& folder);

/// Returns a JSON value as text: a word without quotes, anything else as JSON.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& value);

}  // namespace conelab
