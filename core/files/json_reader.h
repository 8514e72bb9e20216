// Parses JSON of unknown origin (RFC 8259) with nlohmann-json, and refuses what no header of
// tensors needs.
//
// In addition to invalid JSON it refuses duplicate keys, more than 64 levels or 2,000,000 values,
// invalid UTF-8 or NUL in a string, and anything but spaces after the value. Whole numbers beyond
// 64 bits become doubles, which no caller accepts as a size.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace conelab {

/// Returns the value. Throws a failure `PLACE: malformed JSON (byte N: what is wrong)`.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& place);

}  // namespace conelab
