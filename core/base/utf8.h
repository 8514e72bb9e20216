// UTF-8 (RFC 3629): the one decoder and encoder of the program. Text comes from files of unknown
// origin, so that any bytes are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conelab {

/// Holds what stands for bytes that are no character.
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

// Turns bytes of unknown origin into text.

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
