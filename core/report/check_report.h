// Whether a report still agrees with the studies that it was made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/study/job.h"

namespace conelab {

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
/// `seed` chooses these jobs, and `worker` is the command that starts a worker of jobs
/// (core/study/job_worker.h). Throws a failure if report.json or an index cannot be read, and
/// interrupted once the context wants the work to stop.
[[nodiscard]] CheckedReport check_report(const std::string& output, std::uint64_t seed,
                                         const std::vector<std::string>& worker,
                                         const JobContext& context);

}  // namespace conelab
