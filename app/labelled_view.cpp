#include "app/labelled_view.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab {
namespace {

const LabelledVariable& variable_of(const LabelledArray& array, const std::string& name,
                                    const std::string& file) {
  const LabelledVariable* variable = array.variable(name);
  if (!variable)
    fail("{}: there is no variable '{}' (is it a result of this program?)", file, name);
  return *variable;
}

std::size_t flat_index(const LabelledArray& array, const LabelledVariable& variable,
                       const Place& place, const std::string& file) {
  std::size_t index = 0;
  for (const std::string& name : variable.axes) {
    const std::size_t size = axis_of(array, name, file).size();
    const auto at = place.find(name);
    const std::size_t step = at == place.end() ? 0 : at->second;
    if (step >= size) {
      fail("{}: {} {} is outside (there are {})", file, name, step, size);
    }
    index = index * size + step;
  }
  return index;
}

}  // namespace

std::vector<std::string> axis_labels(const LabelledAxis& axis) {
  return std::visit(
      [](const auto& labels) {
        std::vector<std::string> text;
        for (const auto& label : labels) text.push_back(fmt::format("{}", label));
        return text;
      },
      axis.labels);
}

const LabelledAxis& axis_of(const LabelledArray& array, const std::string& name,
                            const std::string& file) {
  const LabelledAxis* axis = array.axis(name);
  if (!axis) fail("{}: there is no axis '{}' (is it a result of this program?)", file, name);
  return *axis;
}

std::size_t label_index(const LabelledAxis& axis, const std::string& label) {
  const std::vector<std::string> labels = axis_labels(axis);
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found == labels.end()) unknown_name(axis.name, label, labels);
  return static_cast<std::size_t>(found - labels.begin());
}

double number_at(const LabelledArray& array, const std::string& variable, const Place& place,
                 const std::string& file) {
  const LabelledVariable& found = variable_of(array, variable, file);
  const std::size_t index = flat_index(array, found, place, file);
  return std::visit(
      [&](const auto& data) -> double {
        if constexpr (std::is_same_v<std::decay_t<decltype(data)>, std::vector<std::string>>) {
          fail("{}: variable '{}' holds text, not numbers", file, variable);
        } else {
          return static_cast<double>(data.at(index));
        }
      },
      found.data);
}

std::vector<double> numbers_of(const LabelledArray& array, const std::string& variable,
                               const std::string& file) {
  return std::visit(
      [&](const auto& data) -> std::vector<double> {
        if constexpr (std::is_same_v<std::decay_t<decltype(data)>, std::vector<std::string>>) {
          fail("{}: variable '{}' holds text, not numbers", file, variable);
        } else {
          return {data.begin(), data.end()};
        }
      },
      variable_of(array, variable, file).data);
}

}  // namespace conelab
