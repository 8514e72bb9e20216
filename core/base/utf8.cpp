#include "core/base/utf8.h"

#include <fmt/format.h>

#include <array>

namespace conelab {
namespace {

/// Returns the number of bytes of a character that starts with this byte, or 0 if none does.
std::size_t length_from(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

Utf8Character first_character(std::string_view text) {
  static constexpr std::array<char32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = length_from(first);
  if (length == 0 || length > text.size()) return {};
  char32_t code = length == 1 ? first : first & (0xFFu >> (length + 1));
  for (std::size_t k = 1; k < length; ++k) {
    if (!is_continuation(text[k])) return {};
    code = (code << 6) | (static_cast<unsigned char>(text[k]) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < smallest[length] || code > 0x10FFFF || surrogate) return {};
  return {code, length, true};
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string codes;
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    codes += c.code;
    text.remove_prefix(c.length);
  }
  return codes;
}

void append_utf8(std::string& text, char32_t code) {
  const auto byte = [&](char32_t bits) { text += static_cast<char>(bits); };
  const auto rest = [&](int shift) { byte(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) return byte(0xC0 | code >> 6), rest(0);
  if (code < 0x10000) return byte(0xE0 | code >> 12), rest(6), rest(0);
  byte(0xF0 | (code >> 18 & 7)), rest(12), rest(6), rest(0);
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  for (const char32_t c : text) append_utf8(bytes, c);
  return bytes;
}

std::string_view cut_utf8(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  while (longest > 0 && is_continuation(text[longest])) --longest;
  return text.substr(0, longest);
}

namespace {

std::string escape(std::string_view bytes, bool controls_too, std::size_t longest) {
  std::string text;
  while (!bytes.empty()) {
    if (text.size() >= longest) return text + "…";
    const Utf8Character c = first_character(bytes);
    const auto first = static_cast<unsigned char>(bytes[0]);
    const bool control = first < 0x20 || first == 0x7F;
    if (!c.valid || first == 0 || (controls_too && control)) {
      text += fmt::format("\\x{:02x}", first);
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, c.length);
      bytes.remove_prefix(c.length);
    }
  }
  return text;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) { return escape(bytes, false, std::string::npos); }

std::string printable(std::string_view bytes, std::size_t longest) {
  return escape(bytes, true, longest);
}

std::vector<std::string> tokens_of_batch(const std::vector<std::string>& all, std::int64_t n,
                                         std::int64_t batch) {
  if (static_cast<std::int64_t>(all.size()) <= n) return all;
  const auto first = all.begin() + n * batch;
  return {first, first + n};
}

}  // namespace conelab
