// JSON of unknown origin (RFC 8259), read by nlohmann-json and refused where it is more than a
// header of tensors needs.
//
// Refused beyond the grammar: duplicate keys, more than 64 levels or 2,000,000 values, invalid
// UTF-8 or NUL in a string, anything after the value except spaces. Whole numbers beyond 64 bits
// become doubles, which no caller takes for a size.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace conelab {

/// Fails with `PLACE: malformed JSON (byte N: what is wrong)`.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& place);

}  // namespace conelab
