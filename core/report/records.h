// The numbers of a study's block, each with the keys that it belongs to.
//
// A job has the values of its swept keys, and its measures: the numbers that its file states as
// attributes, and those that the study's index states of it (core/study/study_index.h); where
// both state one, that of the file counts. A benchmark has a record for each of its cases, whose
// keys are the benchmark's axes and whose measures are time and time_cold [s], flops, throughput
// [FLOP/s], peak_share, peak_bytes, extra_bytes and error, and one for each of its lines, which
// lacks the key of the length and has the measure `exponent`. A further record, without these keys,
// has the measures of the job.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files/seal.h"
#include "core/job/job_spec.h"
#include "core/statistics/interval.h"
#include "core/study/report_order.h"
#include "core/study/study_index.h"

namespace conelab {

// A study as a report reads it: the folder that `conelab run` has written
// (core/study/study_index.h).

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
[[nodiscard]] TextPairs texts_of(const Json& object);

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

/// Returns the path of a folder without "." and ".." where it can be, and without a separator at
/// its end, so that one folder has one name.
[[nodiscard]] std::filesystem::path plain_folder(const std::filesystem::path& folder);

/// Reads the studies in these folders. The label of each is its entry of `labels`; without one, its
/// folder's name, with a counter if another one has that name. Throws a failure `DIR/index.json:
/// why` if an index cannot be read, if a finished job names no file, and if a job's file lies
/// outside of the folder.
[[nodiscard]] std::vector<ReportStudy> read_report_studies(
    const std::vector<std::string>& folders, const std::vector<std::string>& labels = {});

struct Record {
  std::size_t study = 0, job = 0;  ///< Indices into the report's studies and the study's jobs.
  TextPairs keys;
  std::vector<std::pair<std::string, Interval>> measures;  ///< Bounds are NaN for lone numbers.
  bool of_bench = false;
};

/// Reads the records of a block's finished jobs; `study` is its index among `studies`. Throws a
/// failure if a file cannot be read.
[[nodiscard]] std::vector<Record> records_of_block(const std::vector<ReportStudy>& studies,
                                                   std::size_t study, const std::string& block,
                                                   const JobContext& context);

/// Returns in one line how the content of a finished job's file differs from the digest that the
/// index states; empty if it does not. Throws a failure if the file cannot be read.
[[nodiscard]] std::string content_change(const std::string& path, const JobRecord& job,
                                         const std::function<bool()>& cancelled);

}  // namespace conelab
