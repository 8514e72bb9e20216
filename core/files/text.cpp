#include "core/files/text.h"

#include <fmt/format.h>

namespace conelab {
namespace {

/// Returns the length of the UTF-8 character that begins here, or 0 if there is none (RFC 3629: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t character_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto follows = [&](std::size_t i) { return i < bytes.size() && (at(i) & 0xC0) == 0x80; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF && follows(1) && follows(2)) {
    const bool overlong = first == 0xE0 && at(1) < 0xA0;
    const bool surrogate = first == 0xED && at(1) >= 0xA0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4 && follows(1) && follows(2) && follows(3)) {
    const bool overlong = first == 0xF0 && at(1) < 0x90;
    const bool beyond = first == 0xF4 && at(1) >= 0x90;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

std::string escape(std::string_view bytes, bool controls_too, std::size_t longest) {
  std::string text;
  while (!bytes.empty()) {
    if (text.size() >= longest) return text + "…";
    const std::size_t length = character_length(bytes);
    const auto first = static_cast<unsigned char>(bytes[0]);
    const bool control = first < 0x20 || first == 0x7F;
    if (length == 0 || first == 0 || (controls_too && control)) {
      text += fmt::format("\\x{:02x}", first);
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return text;
}

}  // namespace

void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) return byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F));
  if (code < 0x10000) {
    return byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F));
  }
  byte(0xF0 | (code >> 18 & 7)), byte(0x80 | (code >> 12 & 0x3F));
  byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F));
}

std::string valid_utf8(std::string_view bytes) { return escape(bytes, false, std::string::npos); }

std::string printable(std::string_view bytes, std::size_t longest) {
  return escape(bytes, true, longest);
}

}  // namespace conelab
