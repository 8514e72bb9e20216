// Labelled hyper-rectangles: numbers and strings over named axes, like a Dataset of xarray.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/names.h"

namespace conelab {

/// The value of an attribute. Lists are one-dimensional. Whole numbers are exact; they are unsigned
/// only if one exceeds 2^63 - 1.
using AttributeValue =
    std::variant<std::string, double, std::int64_t, std::vector<std::string>, std::vector<double>,
                 std::uint64_t, std::vector<std::int64_t>, std::vector<std::uint64_t>>;
/// Attributes in the order in which they are written.
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// Returns the value of an attribute; null if none has this name, or its value another type.
template <class T>
[[nodiscard]] const T* find_attribute(const Attributes& attributes, std::string_view wanted) {
  for (const auto& [name, value] : attributes) {
    if (name == wanted) return std::get_if<T>(&value);
  }
  return nullptr;
}
/// Returns the same, or an empty text or list instead of null.
template <class T = std::string>
[[nodiscard]] T attribute_or_empty(const Attributes& attributes, std::string_view wanted) {
  const T* value = find_attribute<T>(attributes, wanted);
  return value == nullptr ? T() : *value;
}

/// An axis. Text labels are stored as an integer scale 0, 1, ... and a string variable `NAME_name`.
struct LabelledAxis {
  std::string name;
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> labels;
  std::string units = {};  ///< Empty: none.

  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, labels);
  }
};

/// Returns an axis with the labels 0, 1, ..., size - 1.
[[nodiscard]] inline LabelledAxis counted_axis(const std::string& name, std::size_t size) {
  std::vector<std::int64_t> labels(size);
  std::iota(labels.begin(), labels.end(), 0);
  return {name, std::move(labels)};
}

using LabelledData =
    std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                 std::vector<std::uint8_t>, std::vector<std::string>>;

/// A variable over some of the axes, row-major, with the last axis contiguous. Without axes it is
/// one value.
struct LabelledVariable {
  std::string name;
  std::vector<std::string> axes;
  LabelledData data;
  std::string units = {};  ///< Empty: none. "s" for a time.
  Attributes attributes = {};
};

/// One group, which `xarray.open_dataset(file, group=...)` opens.
struct LabelledArray {
  std::vector<LabelledAxis> axes;
  std::vector<LabelledVariable> variables;
  std::string signal;  ///< The variable that viewers plot first; empty: none.
  Attributes attributes;

  /// Adds a variable without units and attributes.
  void add(const std::string& name, const std::vector<std::string>& over, LabelledData data) {
    variables.push_back({name, over, std::move(data)});
  }
  /// Adds a tensor [extents] over axes of its own, NAME_axis_0 and so on.
  void add_tensor(const std::string& name, const std::vector<std::int64_t>& extents,
                  LabelledData data) {
    std::vector<std::string> over;
    for (const std::int64_t extent : extents) {
      over.push_back(name + "_axis_" + std::to_string(over.size()));
      axes.push_back(counted_axis(over.back(), static_cast<std::size_t>(extent)));
    }
    add(name, over, std::move(data));
  }
  /// Return the axis, and the variable, with this name, or null.
  [[nodiscard]] const LabelledAxis* axis(const std::string& name) const {
    return find_named(axes, name);
  }
  [[nodiscard]] const LabelledVariable* variable(const std::string& name) const {
    return find_named(variables, name);
  }
  /// Returns the data of a variable; null if none has this name, or its data another type.
  template <class T>
  [[nodiscard]] const std::vector<T>* data(const std::string& name) const {
    const LabelledVariable* found = variable(name);
    return found == nullptr ? nullptr : std::get_if<std::vector<T>>(&found->data);
  }
};

}  // namespace conelab
