// Turns bytes of unknown origin into text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace conelab {

/// Returns the text with NUL, and every byte that is not part of valid UTF-8, written as `\xNN`.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

/// Does the same for one line of a message or a label: control characters are escaped too, and the
/// text is cut with "…" after `longest` bytes.
[[nodiscard]] std::string printable(std::string_view bytes, std::size_t longest = 80);

}  // namespace conelab
