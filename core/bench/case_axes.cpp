#include "core/bench/case_axes.h"

#include <algorithm>
#include <iterator>

#include "core/base/names.h"

namespace conelab {

const CaseAxis& axis_named(const std::string& label) {
  const auto* found = std::find_if(std::begin(case_axes), std::end(case_axes),
                                   [&](const CaseAxis& axis) { return axis.label == label; });
  if (found != std::end(case_axes)) return *found;
  std::vector<std::string> known;
  for (const CaseAxis& axis : case_axes) known.emplace_back(axis.label);
  unknown_name("label of cases", label, known);
}

std::string label_of(const Case& c, const CaseAxis& axis) {
  return axis.text != nullptr ? c.*axis.text : std::to_string(c.*axis.number);
}

std::size_t axis_size(const Sweep& sweep, const CaseAxis& axis) {
  return axis.names != nullptr ? (sweep.*axis.names).size() : (sweep.*axis.numbers).size();
}

}  // namespace conelab
