// Reads result files, their axes and their numbers. Errors name the file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/files/bench_file.h"

namespace conelab {

/// Throws misuse if `path` is FILE:GROUP of a file that exists. Commands that read whole files call
/// it.
void check_whole_file(const std::string& path);

/// Reads a whole result file in a child process. Warns if its bytes have changed since it was
/// written. Polls `cancelled` and throws Error(interrupted) once it returns true; throws misuse for
/// FILE:GROUP.
[[nodiscard]] LabelledFile read_result(const std::string& path,
                                       const std::function<bool()>& cancelled);
/// Prints the warning that the file's bytes have changed since it was written.
void warn_of_change(const std::string& path);

/// Returns the axis of that name. Throws a failure "FILE: ..." if the array has none.
[[nodiscard]] const LabelledAxis& axis_of(const LabelledArray& array, const std::string& name,
                                          const std::string& file);

/// Returns all numbers of a variable as doubles, in row-major order. Throws a failure "FILE: ..."
/// if the variable is absent or holds text.
[[nodiscard]] std::vector<double> numbers_of(const LabelledArray& array,
                                             const std::string& variable, const std::string& file);

}  // namespace conelab
