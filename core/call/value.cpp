#include "core/call/value.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "core/base/parse_number.h"

namespace conelab {
namespace {

/// Returns the numbers between separators; none if an entry is no number.
std::vector<double> numbers_at(std::string_view text, char separator) {
  std::vector<double> numbers;
  for (const std::string_view part : split_at(text, separator)) {
    const std::optional<double> number = parse_number(part);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::vector<double>> lists_of(std::string_view text) {
  std::vector<std::vector<double>> lists;
  for (const std::string_view part : split_at(text, ';')) {
    lists.push_back(numbers_at(part, ','));
    if (lists.back().empty()) return {};
  }
  return lists;
}

}  // namespace

Value::Value(double number) : text_(fmt::format("{}", number)), lists_{{number}}, sides_{number} {}

Value::Value(const std::vector<double>& list)
    : text_(fmt::format("{}", fmt::join(list, ","))), lists_{list} {
  if (list.size() == 1) sides_ = list;
}

Value::Value(std::string text)
    : text_(std::move(text)), lists_(lists_of(text_)), sides_(numbers_at(text_, 'x')) {}

Value Value::of_sides(const std::vector<double>& sides) {
  return fmt::format("{}", fmt::join(sides, "x"));
}

std::optional<double> Value::number() const {
  if (lists_.size() != 1 || lists_.front().size() != 1) return std::nullopt;
  return lists_.front().front();
}

std::optional<std::string> Value::file() const {
  if (!text_.starts_with('@')) return std::nullopt;
  return text_.substr(1);
}

Value Value::of_head(std::int64_t head, bool by_axis) const {
  if (is_random() || file()) return *this;
  std::string text = text_;
  if (!by_axis) std::replace(text.begin(), text.end(), ';', ',');
  const std::vector<std::string_view> by_head = split_at(text, by_axis ? ';' : ',');
  const auto at = static_cast<std::size_t>(head);
  if (by_head.size() < 2 || at >= by_head.size()) return *this;
  return std::string(by_head[at]);
}

}  // namespace conelab
