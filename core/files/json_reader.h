// A small strict JSON reader (RFC 8259) for headers of unknown origin.
//
// Refused beyond the grammar: duplicate keys, more than 64 levels or 2,000,000 values, invalid
// UTF-8 or NUL, anything after the value except spaces. Numbers keep their text: sizes must not
// pass through a double.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace conelab {

struct JsonMember;

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;  ///< A string's content (UTF-8), or a number as it was written.
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  ///< In the order of the file.

  /// A member of an object; null where there is none.
  [[nodiscard]] const JsonValue* find(const std::string& key) const;
  /// A whole number >= 0 below 2^63; empty for everything else.
  [[nodiscard]] std::optional<std::int64_t> whole_number() const;
};

/// Of an object. A pair cannot hold a type that is not complete yet; a vector can.
struct JsonMember {
  std::string name;
  JsonValue value;
};

/// Fails with `PLACE: malformed JSON at byte N (expected ...)`.
[[nodiscard]] JsonValue parse_json(std::string_view text, const std::string& place);

}  // namespace conelab
