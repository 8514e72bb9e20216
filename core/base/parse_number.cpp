#include "core/base/parse_number.h"

#include <charconv>

namespace conelab {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace conelab
