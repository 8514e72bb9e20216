// Axes and numbers of a labelled array, with errors that name the file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/files/bench_file.h"

namespace conelab {

/// Throws misuse where `path` is FILE:GROUP of a file that exists: for commands that read all of
/// it.
void check_whole_file(const std::string& path);

/// A result file, read in a child process; warns where its bytes are not those that were written.
/// Of a whole file only, see above.
[[nodiscard]] LabelledFile read_result(const std::string& path,
                                       const std::function<bool()>& cancelled);
void warn_of_change(const std::string& path);

/// The axis; fails with "FILE: ..." where the array has none of that name.
[[nodiscard]] const LabelledAxis& axis_of(const LabelledArray& array, const std::string& name,
                                          const std::string& file);

/// All numbers of a variable as doubles, in the order stored. Fails with "FILE: ..." where the
/// variable is absent or holds text.
[[nodiscard]] std::vector<double> numbers_of(const LabelledArray& array,
                                             const std::string& variable, const std::string& file);

}  // namespace conelab
