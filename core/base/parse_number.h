// Numbers and lists from text, independent of the locale. (The functions of the C library read
// "0.5" as 0 if the locale has a decimal comma.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace conelab {

/// Returns the number if the whole text is one ("-1.5e3", "nan", "inf"); otherwise returns nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// Does the same for an integer ("-3").
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// Returns the parts of `text` between separators, without the blanks around them, as views into
/// it. An empty text has one empty part.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char separator);
[[nodiscard]] inline std::vector<std::string_view> split_commas(std::string_view text) {
  return split_at(text, ',');
}
/// Returns copies of these parts. An empty text has none.
[[nodiscard]] std::vector<std::string> words_at(std::string_view text, char separator);

}  // namespace conelab
