// Lists of names, and error messages for unknown ones with a suggestion and the known names.
#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace conelab {

/// Returns the number of edits between two words (optimal string alignment). An edit inserts,
/// removes or replaces a character, or swaps two neighbours.
[[nodiscard]] int edit_distance(const std::string& a, const std::string& b);

/// Returns the known name with the fewest edits from `name`. Returns an empty string if more than
/// half of the characters differ from every known name.
[[nodiscard]] std::string nearest_name(const std::string& name,
                                       const std::vector<std::string>& known);

/// Returns where a text has the name as a word of its own, with `_` or with `-` within it; npos if
/// there is none.
[[nodiscard]] std::size_t find_word(const std::string& text, std::string name);

/// Returns whether a list holds a value.
template <class List, class Value>
[[nodiscard]] bool contains(const List& list, const Value& value) {
  return std::ranges::find(list, value) != std::end(list);
}

/// Appends a value that the list does not hold yet.
template <class List, class Value>
void add_once(List& list, Value&& value) {
  if (!contains(list, value)) list.emplace_back(std::forward<Value>(value));
}

/// Returns the entries of a list, with a text between each two: "a, b, c".
template <class List>
[[nodiscard]] std::string join(const List& list, std::string_view between = ", ") {
  return fmt::format("{}", fmt::join(list, between));
}

/// Returns "1 head" or "2 heads".
template <std::integral Count>
[[nodiscard]] std::string counted(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Returns the entries of a list, separated by commas. An entry may be a call as one word
/// (core/call/call.h), whose parameters may be lists of one number per head: an entry of the
/// form KEY=VALUE goes on after a comma if a number follows. "dot,penumbral:gamma=1,2" therefore
/// has two entries.
[[nodiscard]] std::vector<std::string> split_names(std::string_view text);
/// Returns the same. Throws misuse for an empty entry; the message begins with `field`.
[[nodiscard]] std::vector<std::string> parse_names(const std::string& field, std::string_view text);

/// Returns the index of a name among the known ones. Throws misuse as unknown_name does.
[[nodiscard]] std::size_t index_of_name(const std::string& what, const std::string& name,
                                        const std::vector<std::string>& known);

/// Throws misuse with the message: unknown WHAT 'NAME'; did you mean 'NEAREST'? (known: ...)
[[noreturn]] void unknown_name(const std::string& what, const std::string& name,
                               const std::vector<std::string>& known);

// Finds a row of a table by its name or key.

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
    add_once(names, row.name);
  }
  return names;
}

/// Returns the members `key` of rows.
template <class Rows>
[[nodiscard]] std::vector<std::string> all_keys(const Rows& rows) {
  std::vector<std::string> keys;
  for (const auto& row : rows) keys.emplace_back(row.key);
  return keys;
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
  return std::ranges::any_of(rows, [&](const auto& row) { return row.key == key; });
}

}  // namespace conelab
