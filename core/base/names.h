// Lists of names, and error messages for unknown ones with a suggestion and the known names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace conelab {

/// Returns the number of edits between two words (optimal string alignment). An edit inserts,
/// removes or replaces a character, or swaps two neighbours.
[[nodiscard]] int edit_distance(const std::string& a, const std::string& b);

/// Returns the known name with the fewest edits from `name`. Returns an empty string if more than
/// half of the characters differ from every known name.
[[nodiscard]] std::string nearest_name(const std::string& name,
                                       const std::vector<std::string>& known);

/// Returns the names separated by commas: "a, b, c".
[[nodiscard]] std::string join(const std::vector<std::string>& names);

/// Returns the entries of a list, separated by commas. An entry may be a call as one word
/// (core/call/call_text.h), whose parameters may be lists of one number per head: an entry of the
/// form KEY=VALUE goes on after a comma if a number follows. "dot,penumbral:gamma=1,2" therefore
/// has two entries.
[[nodiscard]] std::vector<std::string> split_names(std::string_view text);
/// The same. Throws misuse for an empty entry; the message begins with `field`.
[[nodiscard]] std::vector<std::string> parse_names(const std::string& field, std::string_view text);

/// Returns the index of a name among the known ones. Throws misuse as unknown_name does.
[[nodiscard]] std::size_t index_of_name(const std::string& what, const std::string& name,
                                        const std::vector<std::string>& known);

/// Throws misuse with the message: unknown WHAT 'NAME'; did you mean 'NEAREST'? (known: ...)
[[noreturn]] void unknown_name(const std::string& what, const std::string& name,
                               const std::vector<std::string>& known);

}  // namespace conelab
