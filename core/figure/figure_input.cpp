#include "core/figure/figure_input.h"

#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab::figure {
namespace {

void check_choice(const FigureKey& row, const std::string& value) {
  (void)index_of_name(
      row.key, value,
      choice_words({row.key, 0, Domain::choice, false, row.about, row.choices.c_str()}));
}

}  // namespace

std::string FigureInput::value(const std::string& key) const {
  return value_of(*info, parameters, key);
}

Metadata FigureInput::titled(const char* title) const {
  Metadata named = metadata;
  if (named.title.empty()) named.title = title;
  return named;
}

std::string FigureInput::described(const std::string& text) const {
  return with_caption(value("caption"), text);
}

std::string value_of(const FigureInfo& info, const Parameters& parameters, const std::string& key) {
  if (const auto given = parameters.find(key); given != parameters.end()) return given->second;
  for (const FigureKey& row : info.keys) {
    if (row.key == key) return row.initial;
  }
  return "";
}

const std::string* text_of(const Parameters& parameters, const std::string& key) {
  const auto found = parameters.find(key);
  return found == parameters.end() || found->second.empty() ? nullptr : &found->second;
}

void check_keys(const FigureInfo& info, const Parameters& parameters) {
  const std::vector<std::string> known = all_keys(info.keys);
  for (const auto& [key, value] : parameters) {
    const FigureKey& row =
        info.keys[index_of_name("key of figure " + std::string(info.name), key, known)];
    if (row.whole) (void)whole_number(key, value);
    if (!row.choices.empty() && value != row.initial) check_choice(row, value);
  }
}

double number(const std::string& key, std::string_view text, double most) {
  const std::optional<double> value = parse_number(text);
  if (!value) misuse("-p {}={}: not a number", key, text);
  if (!std::isfinite(*value)) misuse("-p {}={}: expected a finite number", key, text);
  if (std::abs(*value) > most)
    misuse("-p {}={}: expected a number from {:g} to {:g}", key, text, -most, most);
  return *value;
}

std::size_t whole_number(const std::string& key, std::string_view text) {
  const std::optional<std::int64_t> number = parse_integer(text);
  if (!number || *number < 0) misuse("-p {}={}: expected a whole number from 0", key, text);
  return static_cast<std::size_t>(*number);
}

DisplayList drawable(DisplayList list, const Parameters& typed) try {
  validate(list);
  return list;
} catch (const Error& error) {
  std::string words;
  for (const auto& [key, value] : typed) words += fmt::format(" -p {}={}", key, value);
  if (words.empty()) throw;
  misuse("{} (too large, too small or too far apart to be drawn:{})", error.what(), words);
}

double typed_value(const ParameterInfo& info, const FigureInput& input, double initial) {
  if (info.domain == Domain::tensor) return std::nan("");
  const std::string typed = input.value(info.key);
  if (typed.empty()) return initial;
  if (info.domain == Domain::choice) {
    const std::string what = std::string("-p ") + info.key;
    return static_cast<double>(index_of_name(what, typed, choice_words(info)));
  }
  const std::optional<double> value = parse_number(typed);
  if (!value)
    misuse("-p {}={}: expected one number (figures draw one head and one axis)", info.key, typed);
  check_domain(info, *value);
  return number(info.key, typed);
}

}  // namespace conelab::figure
