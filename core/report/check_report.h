// Whether a report still agrees with the studies that it was made from.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/report/study_results.h"
#include "core/study/job.h"

namespace conelab {

/// Runs a job of a study again and writes its results to `output`, or for a figure to files of that
/// stem. Returns the paths of the files in the order of `StudyJob::files`.
using RunAgain = std::function<std::vector<std::string>(
    const StudyResults& study, const StudyJob& job, const std::string& output)>;

struct CheckedReport {
  std::vector<std::string> problems;  ///< One line for each thing that does not agree.
  /// What was compared.
  std::size_t digests = 0, numbers = 0, figures = 0, files = 0;
  std::vector<std::string> run_again;  ///< The names of the jobs, figures left out.
};

/// Checks the report in the folder `output`:
///  - the content of every result has the digest that its seal, the study's index and the report
///  state;
///  - every number, made anew from the results, is the report's, and every file of the report is
///  equal
///    to the byte to one that is made anew;
///  - every figure that is drawn again equals the study's;
///  - a random tenth of the other jobs, at least one, gives the same results again
///  (`same_results`).
///    Benchmarks are not run again: no time is measured twice.
/// `seed` chooses these jobs. Throws a failure if report.json or an index cannot be read.
[[nodiscard]] CheckedReport check_report(const std::string& output, std::uint64_t seed,
                                         const RunAgain& run_again, const JobContext& context);

}  // namespace conelab
