// Reading single values of a labelled array by the labels of its axes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/files/labelled_array.h"

namespace conelab {

/// Axis name -> position along it. Axes that are not named stand at their first label.
using Place = std::map<std::string, std::size_t>;

/// An axis' labels as text ("penumbral", "1024", "0.5").
[[nodiscard]] std::vector<std::string> axis_labels(const LabelledAxis& axis);

/// The axis; fails with "FILE: ..." where the array has none of that name.
[[nodiscard]] const LabelledAxis& axis_of(const LabelledArray& array, const std::string& name,
                                          const std::string& file);

/// The position of `label` along an axis; misuse for an unknown one, with the nearest and the list.
[[nodiscard]] std::size_t label_index(const LabelledAxis& axis, const std::string& label);

/// The number of a variable at a place, whatever its type. Fails where the variable is absent or
/// holds text, or the place lies outside.
[[nodiscard]] double number_at(const LabelledArray& array, const std::string& variable,
                               const Place& place, const std::string& file);

/// All numbers of a variable as doubles, in the order stored.
[[nodiscard]] std::vector<double> numbers_of(const LabelledArray& array,
                                             const std::string& variable, const std::string& file);

}  // namespace conelab
