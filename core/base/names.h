// Messages about unknown names: the nearest known one and the list.
#pragma once

#include <string>
#include <vector>

namespace conelab {

/// The number of edits between two words: a character inserted, removed or replaced, or two
/// neighbours swapped (optimal string alignment).
[[nodiscard]] int edit_distance(const std::string& a, const std::string& b);

/// The known name with the fewest edits, or empty where none is near (more than half is different).
[[nodiscard]] std::string nearest_name(const std::string& name,
                                       const std::vector<std::string>& known);

/// "a, b, c".
[[nodiscard]] std::string join(const std::vector<std::string>& names);

/// Throws misuse: unknown WHAT 'NAME'; did you mean 'NEAREST'? (known: ...)
[[noreturn]] void unknown_name(const std::string& what, const std::string& name,
                               const std::vector<std::string>& known);

}  // namespace conelab
