// Says whether a report still agrees with the studies that it was made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/sandbox.h"
#include "core/job/job_spec.h"

namespace conelab {

struct CheckedReport {
  std::vector<std::string> problems;  ///< One line for each thing that does not agree.
  /// Holds what was compared.
  std::size_t digests = 0, numbers = 0, figures = 0, files = 0;
  std::vector<std::string> run_again;   ///< The names of the jobs, figures left out.
  std::size_t failed = 0, missing = 0;  ///< Jobs of the studies that failed, and that have not run.
};

/// Checks the report in the folder `output`:
///  - the content of every result has the digest that its seal, the index and the report state;
///  - every number is the one that the results give, and every file equals one that is made anew;
///  - every figure that is drawn again equals the study's;
///  - a random tenth of the other jobs, at least one, gives the same results again. Benchmarks are
///    not run again: no time is measured twice.
/// `seed` chooses these jobs, and `worker` is the command that starts a worker of jobs
/// (core/study/job_worker.h). Throws a failure if report.json or an index cannot be read, and
/// interrupted once the context wants the work to stop.
[[nodiscard]] CheckedReport check_report(const std::string& output, std::uint64_t seed,
                                         const std::vector<std::string>& worker,
                                         const JobContext& context);

/// Compares all data sets and numeric attributes of two result files of HDF5, but for their
/// environments and the times that they state (names with `seconds`). Returns an empty text if they
/// are equal, else what differs most, such as "/attention/output/output differs by 0.02 of its
/// largest number".
///
/// Results of one program and processor are to be equal to the bit. Otherwise numbers may differ by
/// 1e-4 of the largest of their data set, because sums are rounded in another order.
[[nodiscard]] std::string results_difference(const std::string& first, const std::string& second,
                                             const SandboxLimits& limits = {});

/// Returns whether a job that was run again states the same measure: to 1e-4 of it, since its
/// numbers are compared by `results_difference`. Times (names with `seconds`) always are.
[[nodiscard]] bool same_measure(const std::string& name, double first, double second);

}  // namespace conelab
