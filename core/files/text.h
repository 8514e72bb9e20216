// Turns bytes of unknown origin into text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conelab {

/// Returns the text with NUL, and every byte that is not part of valid UTF-8, written as `\xNN`.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

/// Does the same for one line of a message or a label: control characters are escaped too, and the
/// text is cut with "…" after `longest` bytes.
[[nodiscard]] std::string printable(std::string_view bytes, std::size_t longest = 80);

/// Returns the texts of the tokens of one batch element. `all` has [n] texts, which belong to every
/// element, or [batch × n]; it may be empty.
[[nodiscard]] std::vector<std::string> tokens_of_batch(const std::vector<std::string>& all,
                                                       std::int64_t n, std::int64_t batch);

}  // namespace conelab
