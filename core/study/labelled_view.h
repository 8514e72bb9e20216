// Reads result files, their axes and their numbers. Errors name the file.
#pragma once

#include <string>
#include <vector>

#include "core/files/bench_file.h"
#include "core/study/job_spec.h"

namespace conelab {

/// Throws misuse if `path` is FILE:GROUP of a file that exists. Commands that read whole files call
/// it.
void check_whole_file(const std::string& path);

/// Reads a whole result file in a child process. Remarks if its bytes have changed since it was
/// written. Throws misuse for FILE:GROUP, and interrupted once the context wants the job to stop.
[[nodiscard]] LabelledFile read_result(const std::string& path, const JobContext& context);
/// Returns the remark that the file's bytes have changed since it was written.
[[nodiscard]] std::string change_remark(const std::string& path);

/// Returns the axis of that name. Throws a failure "FILE: ..." if the array has none.
[[nodiscard]] const LabelledAxis& axis_of(const LabelledArray& array, const std::string& name,
                                          const std::string& file);

/// Returns all numbers of a variable as doubles, in row-major order. Throws a failure "FILE: ..."
/// if the variable is absent or holds text.
[[nodiscard]] std::vector<double> numbers_of(const LabelledArray& array,
                                             const std::string& variable, const std::string& file);

}  // namespace conelab
