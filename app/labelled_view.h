// Axes and numbers of a labelled array, with errors that name the file.
#pragma once

#include <string>
#include <vector>

#include "core/files/labelled_array.h"

namespace conelab {

/// The axis; fails with "FILE: ..." where the array has none of that name.
[[nodiscard]] const LabelledAxis& axis_of(const LabelledArray& array, const std::string& name,
                                          const std::string& file);

/// All numbers of a variable as doubles, in the order stored. Fails with "FILE: ..." where the
/// variable is absent or holds text.
[[nodiscard]] std::vector<double> numbers_of(const LabelledArray& array,
                                             const std::string& variable, const std::string& file);

}  // namespace conelab
