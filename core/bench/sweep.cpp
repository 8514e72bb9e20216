#include "core/bench/sweep.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/bench/case_axes.h"

namespace conelab {
namespace {

constexpr std::size_t most_values = 10000;

std::int64_t positive_integer(const std::string& name, std::string_view text) {
  const std::optional<std::int64_t> value = parse_integer(text);
  if (!value || *value < 1) misuse("{}: '{}' is not a positive integer", name, text);
  return *value;
}

/// The next value of a range; the largest integer where it would overflow.
std::int64_t advance(std::int64_t value, char kind, std::int64_t step) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (kind == 'x') return value > largest / step ? largest : value * step;
  return value > largest - step ? largest : value + step;
}

/// "FIRST..LAST:xF" or "FIRST..LAST:+S".
std::vector<std::int64_t> parse_range(const std::string& name, std::string_view text) {
  const auto dots = text.find("..");
  const auto colon = text.find(':', dots);
  if (colon == std::string_view::npos || colon + 2 >= text.size()) {
    misuse("{}: '{}' needs a step, as in 256..4096:x2 or 256..4096:+256", name, text);
  }
  const std::int64_t first = positive_integer(name, text.substr(0, dots));
  const std::int64_t last = positive_integer(name, text.substr(dots + 2, colon - dots - 2));
  const char kind = text[colon + 1];
  const std::int64_t step = positive_integer(name, text.substr(colon + 2));
  if ((kind != 'x' && kind != '+') || (kind == 'x' && step < 2)) {
    misuse("{}: '{}' is no step (expected x2, x4, ... or +N)", name, text.substr(colon + 1));
  }
  if (last < first) misuse("{}: '{}' runs backwards", name, text);
  std::vector<std::int64_t> values;
  for (std::int64_t v = first; v <= last && values.size() <= most_values;
       v = advance(v, kind, step)) {
    values.push_back(v);
  }
  return values;
}

void check_repeats(const char* axis, const std::vector<std::string>& names) {
  if (names.empty()) misuse("the sweep has no {}", axis);
  for (const std::string& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1) {
      misuse("{} '{}' is given twice", axis, name);
    }
  }
}

void check_names(const char* axis, const std::vector<std::string>& names,
                 const std::vector<std::string>& known) {
  check_repeats(axis, names);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) unknown_name(axis, name, known);
  }
}

/// Names alone: what parameters mean is for the program that knows the name.
void check_operators(const std::vector<std::string>& operations,
                     const std::vector<std::string>& known) {
  check_repeats("operator", operations);
  for (const std::string& operation : operations) {
    const std::string name = operator_name(operation);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      unknown_name("operator", name, known);
    }
    if (operation.find_first_of(" \t\r\n") != std::string::npos) {
      misuse("operator '{}' holds a blank", operation);
    }
  }
}

void check_numbers(const char* axis, const std::vector<std::int64_t>& values) {
  if (values.empty()) misuse("the sweep has no {}", axis);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 1) misuse("{} must be at least 1 (found {})", axis, values[i]);
    if (i > 0 && values[i] <= values[i - 1]) misuse("{} must ascend (found {})", axis, values[i]);
  }
}

}  // namespace

std::string describe(const Case& c) {
  std::vector<std::string> words;
  for (const CaseAxis& axis : case_axes) {
    words.push_back((axis.text != nullptr ? "" : axis.title + std::string("=")) +
                    label_of(c, axis));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

namespace {

/// Every case so far with every label of a further axis.
template <class Label>
std::vector<Case> crossed(const std::vector<Case>& cases, Label Case::*label,
                          const std::vector<Label>& values) {
  std::vector<Case> all;
  for (const Case& c : cases) {
    for (const Label& value : values) {
      all.push_back(c);
      all.back().*label = value;
    }
  }
  return all;
}

}  // namespace

std::vector<Case> Sweep::cases() const {
  std::vector<Case> all(1);
  for (const CaseAxis& axis : case_axes) {
    all = axis.text != nullptr ? crossed(all, axis.text, this->*axis.names)
                               : crossed(all, axis.number, this->*axis.numbers);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> Sweep::items() const {
  const auto list = [](const auto& values) { return fmt::format("{}", fmt::join(values, ",")); };
  std::vector<std::pair<std::string, std::string>> all;
  for (const CaseAxis& axis : case_axes) {
    all.emplace_back(axis.item,
                     axis.names != nullptr ? list(this->*axis.names) : list(this->*axis.numbers));
  }
  all.insert(all.end(), {{"batch", std::to_string(batch)},
                         {"rounds", std::to_string(rounds)},
                         {"controls", std::to_string(controls)},
                         {"seed", std::to_string(seed)},
                         {"cold", cold ? "1" : "0"},
                         {"time_limit", fmt::format("{}", time_limit)}});
  return all;
}

namespace {

template <class T>
T whole_number(const std::string& name, const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) misuse("{}: '{}' is not a whole number", name, text);
  return value;
}

void set_item(Sweep& s, const std::string& name, const std::string& value) {
  for (const CaseAxis& axis : case_axes) {
    if (name != axis.item) continue;
    if (axis.names != nullptr)
      s.*axis.names = parse_names(name, value);
    else
      s.*axis.numbers = parse_integers(name, value);
  }
  if (name == "batch") s.batch = whole_number<std::int64_t>(name, value);
  if (name == "rounds") s.rounds = whole_number<int>(name, value);
  if (name == "controls") s.controls = whole_number<int>(name, value);
  if (name == "seed") s.seed = whole_number<std::uint64_t>(name, value);
  if (name == "cold") s.cold = value == "1";
  if (name == "time_limit") s.time_limit = parse_number(value).value_or(s.time_limit);
}

}  // namespace

Sweep sweep_of_items(const std::vector<std::pair<std::string, std::string>>& items) {
  Sweep sweep;
  for (const auto& [name, value] : items) set_item(sweep, name, value);
  return sweep;
}

std::vector<std::int64_t> parse_integers(const std::string& name, const std::string& text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : split_commas(text)) {
    if (part.find("..") == std::string_view::npos) {
      values.push_back(positive_integer(name, part));
    } else {
      const auto range = parse_range(name, part);
      values.insert(values.end(), range.begin(), range.end());
    }
    if (values.size() > most_values) misuse("{}: '{}' has over {} values", name, text, most_values);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::string> parse_names(const std::string& name, const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view part : split_commas(text)) {
    if (part.empty()) misuse("{}: '{}' holds an empty name", name, text);
    names.emplace_back(part);
  }
  return names;
}

std::string operator_name(const std::string& operation) {
  return operation.substr(0, operation.find(':'));
}

void check_sweep(const Sweep& s, const std::vector<std::string>& known_operators) {
  check_operators(s.operations, known_operators);
  check_names("pass", s.passes, {"forward", "backward", "forward+backward"});
  check_names("device", s.devices, {"cpu", "cuda"});
  check_names("dtype", s.dtypes, {"f64", "f32", "f16", "bf16"});
  for (const CaseAxis& axis : case_axes) {
    if (axis.numbers != nullptr) check_numbers(axis.item, s.*axis.numbers);
  }
  if (s.rounds < 1) misuse("rounds must be at least 1 (found {})", s.rounds);
  if (s.controls < 0) misuse("controls must be at least 0 (found {})", s.controls);
  if (s.batch < 1) misuse("batch must be at least 1 (found {})", s.batch);
  if (!(s.time_limit > 0)) misuse("the time limit must be positive (found {})", s.time_limit);
}

}  // namespace conelab
