// Reads whole result files. Errors name the file.
#pragma once

#include <string>

#include "core/files/bench_file.h"
#include "core/job/job_spec.h"

namespace conelab {

/// Throws misuse if `path` is FILE:GROUP of a file that exists. Commands that read whole files call
/// it.
void check_whole_file(const std::string& path);

/// Reads a whole result file in a child process. Remarks if its bytes have changed since it was
/// written. Throws misuse for FILE:GROUP, and interrupted once the context wants the job to stop.
[[nodiscard]] LabelledFile read_result(const std::string& path, const JobContext& context);
/// Returns the remark that the file's bytes have changed since it was written.
[[nodiscard]] std::string change_remark(const std::string& path);

}  // namespace conelab
