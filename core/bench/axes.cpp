#include "core/bench/axes.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/tensor.h"

namespace conelab {
namespace {

constexpr Axis table[] = {
    {.name = "operator",
     .title = "operator",
     .option = "operators",
     .initial = "dot,laplacian,penumbral,umbral",
     .about =
         "names (`conelab list operators`), or calls as penumbral:gamma=2:bias=alibi; a number "
         "after a comma continues a list of one number per head, as in dot,umbral:gamma=1,2",
     .always = true},
    {.name = "pass",
     .title = "pass",
     .option = "passes",
     .initial = "forward,backward",
     .about = "forward, backward, forward+backward",
     .which = "forward, backward or forward+backward",
     .drawn = "forward",
     .choices = "forward|backward|forward+backward",
     .always = true},
    {.name = "device",
     .title = "device",
     .option = "devices",
     .initial = "cpu",
     .about = "cpu, cuda",
     .which = "which device",
     .drawn = "cpu",
     .choices = "cpu|cuda"},
    {.name = "dtype",
     .title = "dtype",
     .option = "dtypes",
     .initial = "f32",
     .about = "f64, f32, bf16, f16",
     .which = "which dtype",
     .choices = "f64|f32|bf16|f16"},
    {.name = "threads",
     .title = "threads",
     .option = "threads",
     .initial = "1",
     .about = "numbers of threads",
     .which = "which number of threads",
     .unit = "thread",
     .numeric = true},
    {.name = "dim",
     .title = "d",
     .option = "dims",
     .initial = "64",
     .about = "d per head, also of v",
     .which = "which dimension per head",
     .numeric = true},
    {.name = "head",
     .title = "heads",
     .option = "heads",
     .initial = "8",
     .about = "numbers of heads",
     .which = "which number of heads",
     .unit = "head",
     .numeric = true},
    {.name = "key_head",
     .title = "key heads",
     .option = "key-heads",
     .initial = "0",
     .about = "numbers of heads of k and v, divisors of the heads; 0: as many",
     .which = "which number of heads of k and v; 0: as many as of q",
     .unit = "key head",
     .implied_label = "0",
     .numeric = true},
    {.name = "query_len",
     .title = "n_q",
     .option = "query-lengths",
     .initial = "0",
     .about = "numbers of queries; 0: as many as keys, which is n",
     .which = "which number of queries; 0: as many as keys",
     .implied_label = "0",
     .numeric = true},
    {.name = "value_dim",
     .title = "d_v",
     .option = "value-dims",
     .initial = "0",
     .about = "dimensions of v per head; 0: d",
     .which = "which dimension of v per head; 0: d",
     .implied_label = "0",
     .numeric = true},
    {.name = "evaluation",
     .title = "evaluation",
     .option = "evaluation",
     .initial = "auto",
     .about = "ways of computing umbral attention at d = 2: auto, pairs, intervals",
     .which = "which evaluation",
     .choices = "auto|pairs|intervals",
     .implied_label = "auto"},
    {.name = "ranks",
     .title = "ranks",
     .option = "ranks",
     .initial = "1",
     .about = "numbers of processes that share a case (`conelab help machines`); needs MPI",
     .which = "which number of processes",
     .unit = "rank",
     .implied_label = "1",
     .numeric = true},
    {.name = "seq_len",
     .title = "n",
     .option = "lengths",
     .initial = "256..16384:x2",
     .about = "sequence lengths: 256,512 or 256..16384:x2 or 256..2048:+256",
     .numeric = true,
     .always = true}};

constexpr std::size_t most_values = 10000;

std::int64_t positive_integer(const std::string& field, std::string_view text) {
  const std::optional<std::int64_t> value = parse_integer(text);
  if (!value || *value < 1) misuse("{}: '{}' is not a positive integer", field, text);
  return *value;
}

/// Returns the next value of a range. If it would overflow, returns the largest integer.
std::int64_t advance(std::int64_t value, char kind, std::int64_t step) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (kind == 'x') return value > largest / step ? largest : value * step;
  return value > largest - step ? largest : value + step;
}

/// Parses "FIRST..LAST:xF" or "FIRST..LAST:+S". Throws misuse for any other text; `field` names the
/// option in messages.
std::vector<std::int64_t> parse_range(const std::string& field, std::string_view text) {
  const auto dots = text.find("..");
  const auto colon = text.find(':', dots);
  if (colon == std::string_view::npos || colon + 2 >= text.size()) {
    misuse("{}: '{}' needs a step, as in 256..4096:x2 or 256..4096:+256", field, text);
  }
  const std::int64_t first = positive_integer(field, text.substr(0, dots));
  const std::int64_t last = positive_integer(field, text.substr(dots + 2, colon - dots - 2));
  const char kind = text[colon + 1];
  const std::int64_t step = positive_integer(field, text.substr(colon + 2));
  if ((kind != 'x' && kind != '+') || (kind == 'x' && step < 2)) {
    misuse("{}: '{}' is no step (expected x2, x4, ... or +N)", field, text.substr(colon + 1));
  }
  if (last < first) misuse("{}: '{}' runs backwards", field, text);
  std::vector<std::int64_t> values;
  for (std::int64_t v = first; v <= last && values.size() <= most_values;
       v = advance(v, kind, step)) {
    values.push_back(v);
  }
  return values;
}

}  // namespace

std::span<const Axis> axes() { return table; }
std::span<const Axis> line_axes() { return axes().first(axes().size() - 1); }
std::span<const Axis> fixed_axes() { return line_axes().subspan(1); }

const Axis& axis_named(std::string_view name) {
  return row_named("label of cases", table, std::string(name));
}

std::size_t index_of(const Axis& axis) { return static_cast<std::size_t>(&axis - table); }

bool is_implied(const Axis& axis, const std::string& label) {
  return *axis.implied_label != '\0' && label == axis.implied_label;
}

bool all_implied(const Axis& axis, const Labels& labels) {
  return labels.size() == 1 && is_implied(axis, labels.front());
}

Labels choices_of(const Axis& axis) { return words_at(axis.choices, '|'); }

std::string label_text(const Axis& axis, const std::string& label) {
  if (!axis.numeric) return label;
  if (*axis.unit == '\0') return fmt::format("{} = {}", axis.title, label);
  return fmt::format("{} {}{}", label, axis.unit, label == "1" ? "" : "s");
}

Labels parse_labels(const Axis& axis, const std::string& field, const std::string& text) {
  Labels labels;
  if (!axis.numeric) {
    labels = parse_names(field, text);
    const bool dtypes = std::string_view(axis.name) == "dtype";
    for (std::string& label : labels) {
      if (dtypes) label = dtype_name(dtype_from_name(label));
    }
    return labels;
  }
  std::vector<std::string_view> numbers = split_commas(text);
  const auto implied = [&](std::string_view part) { return is_implied(axis, std::string(part)); };
  if (std::erase_if(numbers, implied) > 0) labels = {axis.implied_label};  // It comes first.
  if (numbers.empty()) return labels;
  for (const std::int64_t value : parse_integers(field, join(numbers, ","))) {
    labels.push_back(std::to_string(value));
  }
  return labels;
}

std::vector<std::int64_t> parse_integers(const std::string& field, const std::string& text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : split_commas(text)) {
    if (part.find("..") == std::string_view::npos) {
      values.push_back(positive_integer(field, part));
    } else {
      const auto range = parse_range(field, part);
      values.insert(values.end(), range.begin(), range.end());
    }
    if (values.size() > most_values) {
      misuse("{}: '{}' has over {} values", field, text, most_values);
    }
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::int64_t> parse_each(const std::string& field, std::string text) {
  if (text.find("..") != std::string::npos && text.find(':') == std::string::npos) text += ":+1";
  return parse_integers(field, text);
}

Case::Case(std::initializer_list<std::pair<std::string_view, std::string>> labels) {
  static const Labels initial = [] {
    Labels first;
    for (const Axis& axis : table) {
      first.push_back(parse_labels(axis, axis.option, axis.initial).front());
    }
    return first;
  }();
  labels_ = initial;
  for (const auto& [axis, label] : labels) set(axis, label);
}

std::int64_t Case::number(std::string_view axis) const {
  return parse_integer((*this)[axis]).value_or(0);
}

void Case::set(std::string_view axis, std::string label) {
  labels_[index_of(axis_named(axis))] = std::move(label);
}

std::string describe(const Case& c) {
  std::vector<std::string> words;
  for (const Axis& axis : table) {
    if (is_implied(axis, c[axis])) continue;
    words.push_back((axis.numeric ? axis.title + std::string("=") : "") + c[axis]);
  }
  return join(words, " ");
}

std::string operator_of_label(const std::string& label) { return label.substr(0, label.find(':')); }

}  // namespace conelab
