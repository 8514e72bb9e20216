// Bytes of unknown origin as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace conelab {

/// The text with every byte that is not part of valid UTF-8, and NUL, written as `\xNN`.
[[nodiscard]] std::string valid_utf8(std::string_view bytes);

/// The same for one line of a message or a label: control characters escaped too, and cut with
/// "…" after `longest` bytes.
[[nodiscard]] std::string printable(std::string_view bytes, std::size_t longest = 80);

/// Appends a code point in UTF-8; what is no code point gives bytes that are no UTF-8.
void append_utf8(std::string& text, std::uint32_t code);

}  // namespace conelab
