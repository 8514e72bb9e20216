#include "core/base/parse_number.h"

#include <charconv>

namespace conelab {
namespace {

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) { return parse_whole<double>(text); }

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_whole<std::int64_t>(text);
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  const auto trimmed = [](std::string_view part) {
    const auto first = part.find_first_not_of(' ');
    if (first == std::string_view::npos) return std::string_view();
    return part.substr(first, part.find_last_not_of(' ') - first + 1);
  };
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> words_at(std::string_view text, char separator) {
  if (text.empty()) return {};
  const std::vector<std::string_view> parts = split_at(text, separator);
  return {parts.begin(), parts.end()};
}

}  // namespace conelab
