// UTF-8 (RFC 3629): the one decoder and encoder of the program. Text comes from files of unknown
// origin, so that any bytes are taken.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace conelab {

/// What stands for bytes that are no character.
inline constexpr char32_t replacement_character = 0xFFFD;

/// A character at the beginning of a text.
struct Utf8Character {
  char32_t code = replacement_character;
  std::size_t length = 1;  ///< Its bytes; 1 if it is invalid.
  bool valid = false;
};

/// Returns the character with which a text begins, which must not be empty. It is invalid if a byte
/// is missing or wrong, in an overlong form, for a surrogate and above U+10FFFF.
[[nodiscard]] Utf8Character first_character(std::string_view text);

/// Returns the code points of a text. Each invalid byte becomes U+FFFD.
[[nodiscard]] std::u32string decode_utf8(std::string_view text);

/// Appends a code point. One above U+10FFFF or a surrogate gives bytes that are not UTF-8.
void append_utf8(std::string& text, char32_t code);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);

/// Returns the beginning of a text with at most `longest` bytes, cut between two characters.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t longest);

}  // namespace conelab
