// Finds a row of a table by its name or key.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/names.h"

namespace conelab {

/// Returns the first row whose member `name` is this name, or null. The rows must outlive the
/// result.
template <class Rows>
[[nodiscard]] const auto* find_named(const Rows& rows, std::string_view name) {
  for (const auto& row : rows) {
    if (row.name == name) return &row;
  }
  return static_cast<decltype(std::data(rows))>(nullptr);
}

/// Returns the names of rows, each once.
template <class Rows>
[[nodiscard]] std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) {
      names.emplace_back(row.name);
    }
  }
  return names;
}

/// Returns the same row as find_named. Throws misuse as unknown_name does if there is none; the
/// message calls it `what`.
template <class Rows>
[[nodiscard]] const auto& row_named(const std::string& what, const Rows& rows,
                                    const std::string& name) {
  if (const auto* row = find_named(rows, name)) return *row;
  unknown_name(what, name, names_of(rows));
}

/// Returns whether a row has this member `key`.
template <class Rows>
[[nodiscard]] bool contains_key(const Rows& rows, std::string_view key) {
  return std::any_of(std::begin(rows), std::end(rows),
                     [&](const auto& row) { return row.key == key; });
}

}  // namespace conelab
