#include "core/bench/sweep.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"

namespace conelab {
namespace {

bool holds(const Labels& labels, const std::string& label) { return contains(labels, label); }

/// Checks operators by their names only. The program that knows an operator checks its parameters.
void check_names(const Axis& axis, const Labels& labels, const Labels& known) {
  if (labels.empty()) misuse("the sweep has no {}", axis.name);
  for (const std::string& label : labels) {
    if (std::ranges::count(labels, label) > 1) {
      misuse("{} '{}' is given twice", axis.name, label);
    }
    const std::string name = operator_of_label(label);
    if (!known.empty() && !holds(known, name)) unknown_name(axis.name, name, known);
    if (label.find_first_of(" \t\r\n") != std::string::npos) {
      misuse("{} '{}' holds a blank", axis.name, label);
    }
  }
}

void check_numbers(const Axis& axis, const std::vector<std::int64_t>& values) {
  if (values.empty()) misuse("the sweep has no {}", axis.option);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool implied = is_implied(axis, std::to_string(values[i]));
    if (values[i] < 1 && !implied)
      misuse("{} must be at least 1 (found {})", axis.option, values[i]);
    if (i > 0 && values[i] <= values[i - 1]) {
      misuse("{} must ascend (found {})", axis.option, values[i]);
    }
  }
}

/// Throws misuse if no number of heads can share any of those of k and v.
void check_key_heads(const Sweep& s) {
  const std::vector<std::int64_t> heads = s.numbers(axis_named("head"));
  const std::vector<std::int64_t> key_heads = s.numbers(axis_named("key_head"));
  const bool some_fit = std::ranges::any_of(key_heads, [&](std::int64_t own) {
    return own == 0 || std::ranges::any_of(heads, [&](std::int64_t n) { return n % own == 0; });
  });
  if (some_fit) return;
  misuse("key-heads must divide heads (found {} of {})", key_heads.front(), heads.front());
}

template <class T>
T whole_number(const std::string& name, const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) misuse("{}: '{}' is not a whole number", name, text);
  return value;
}

void set_item(Sweep& s, const std::string& name, const std::string& value) {
  for (const Axis& axis : axes()) {
    if (name == axis.option) s[axis] = parse_labels(axis, name, value);
  }
  if (name == "batch") s.batch = whole_number<std::int64_t>(name, value);
  if (name == "rounds") s.rounds = whole_number<int>(name, value);
  if (name == "controls") s.controls = whole_number<int>(name, value);
  if (name == "seed") s.seed = whole_number<std::uint64_t>(name, value);
  if (name == "cold") s.cold = value == "1";
  if (name == "time_limit") s.time_limit = parse_number(value).value_or(s.time_limit);
}

}  // namespace

Sweep::Sweep() {
  for (const Axis& axis : axes()) {
    labels_.push_back(parse_labels(axis, axis.option, axis.initial));
  }
}

std::vector<std::int64_t> Sweep::numbers(const Axis& axis) const {
  std::vector<std::int64_t> values;
  for (const std::string& label : (*this)[axis]) {
    values.push_back(parse_integer(label).value_or(0));
  }
  return values;
}

std::vector<Case> Sweep::cases() const {
  std::vector<Labels> all(1);
  for (const Labels& labels : labels_) {
    std::vector<Labels> longer;
    for (const Labels& begun : all) {
      for (const std::string& label : labels) {
        longer.push_back(begun);
        longer.back().push_back(label);
      }
    }
    all = std::move(longer);
  }
  std::vector<Case> cases;
  for (Labels& labels : all) cases.emplace_back(std::move(labels));
  return cases;
}

std::vector<std::pair<std::string, std::string>> Sweep::items() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Axis& axis : axes()) {
    if (all_implied(axis, (*this)[axis])) continue;
    all.emplace_back(axis.option, join((*this)[axis], ","));
  }
  all.insert(all.end(), {{"batch", std::to_string(batch)},
                         {"rounds", std::to_string(rounds)},
                         {"controls", std::to_string(controls)},
                         {"seed", std::to_string(seed)},
                         {"cold", cold ? "1" : "0"},
                         {"time_limit", fmt::format("{}", time_limit)}});
  return all;
}

Sweep sweep_of_items(const std::vector<std::pair<std::string, std::string>>& items) {
  Sweep sweep;
  for (const auto& [name, value] : items) set_item(sweep, name, value);
  return sweep;
}

void check_sweep(const Sweep& s, const std::vector<std::string>& known_operators) {
  for (const Axis& axis : axes()) {
    if (axis.numeric) {
      check_numbers(axis, s.numbers(axis));
    } else {
      check_names(axis, s[axis], index_of(axis) == 0 ? known_operators : choices_of(axis));
    }
  }
  check_key_heads(s);
  if (s.rounds < 1) misuse("rounds must be at least 1 (found {})", s.rounds);
  if (s.controls < 0) misuse("controls must be at least 0 (found {})", s.controls);
  if (s.batch < 1) misuse("batch must be at least 1 (found {})", s.batch);
  if (!(s.time_limit > 0)) misuse("the time limit must be positive (found {})", s.time_limit);
}

}  // namespace conelab
