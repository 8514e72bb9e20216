// Numbers and lists from text, whatever the locale: the C library's own functions read "0.5" as 0
// where the desktop runs with a decimal comma.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace conelab {

/// The number that the whole text is ("-1.5e3", "nan", "inf"); nothing where it is none.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

/// The same for a whole number ("-3").
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// The parts between commas, of `text`'s own characters; an empty text has one empty part.
[[nodiscard]] std::vector<std::string_view> split_commas(std::string_view text);

}  // namespace conelab
