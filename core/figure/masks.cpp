// Figure `masks`: the pairs of queries and keys that each mask of the table admits.
//
// A row of core/pair/mask_table.cpp is a panel, or several panels if the mask has a parameter that
// is a choice of words. The tensors that masks read in addition to their parameters are made up
// here: 5/8 of the keys are not padding, the explicit mask is that of two documents, and the graph
// is a binary tree.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/bench/axes.h"
#include "core/drawing/font_metrics.h"
#include "core/figure/figure_input.h"
#include "core/pair/mask.h"

namespace conelab::figure {
namespace {

struct Example {
  std::int64_t n;
  std::vector<std::int64_t> lengths, edges;
  std::vector<std::uint8_t> allowed;
  std::vector<double> numbers;  ///< [n] Of each tensor that is a parameter.

  explicit Example(std::int64_t size) : n(size), lengths{(5 * n + 7) / 8} {
    for (std::int64_t i = 1; i < n; ++i) edges.insert(edges.end(), {i, (i - 1) / 2});
    for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<double>(3 * i % n));
    for (std::int64_t i = 0; i < n * n; ++i) {
      allowed.push_back((i / n < (n + 1) / 2) == (i % n < (n + 1) / 2) ? 1 : 0);
    }
  }
  [[nodiscard]] MaskInput input() const {
    return {.query = n,
            .key = n,
            .slice = Slice({}, n, n),
            .allowed = allowed.data(),
            .lengths = lengths.data(),
            .edges = edges,
            .has_edges = true,
            .allowed_sizes = {1, 1, n, n}};
  }
};

struct Pattern {
  std::string name, parameters;
  MaskOperand operand = MaskOperand::none;
  std::int64_t n = 0;
  std::vector<std::uint8_t> sees;  ///< [n x n]
};

/// Returns the value of a parameter: the one that was typed, its default, or a quarter of the keys
/// if it has none.
double value_of_parameter(const MaskRow& row, std::size_t index, const FigureInput& input,
                          std::int64_t n) {
  const ParameterInfo& info = row.parameters[index];
  double initial = info.initial;
  if (std::isnan(initial) && row.initial != nullptr) {
    initial = row.initial(static_cast<int>(index), {0, 1, n, n, 0});
  }
  // A default beyond the length of the sequence would hide the pattern.
  const double quarter = std::max(1.0, std::round(static_cast<double>(n) / 4));
  if (std::isnan(initial) || initial > static_cast<double>(n)) initial = quarter;
  return typed_value(info, input, initial);
}

std::string parameters_text(const MaskRow& row, const std::vector<double>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ParameterInfo& info = row.parameters[i];
    if (info.domain == Domain::tensor) continue;
    const std::string value = info.domain == Domain::choice
                                  ? choice_words(info)[static_cast<std::size_t>(values[i])]
                                  : fmt::format("{:g}", values[i]);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", info.key, value);
  }
  return text;
}

Pattern pattern_of(const MaskRow& row, const std::vector<double>& values, const Example& example) {
  MaskPart part{&row, values, {}};
  part.tensors.emplace_back(row.parameters.size(), example.numbers);
  const Mask mask({std::move(part)}, example.input());
  const std::int64_t n = example.n;
  Pattern pattern{row.name, parameters_text(row, values), row.operand, n, {}};
  pattern.sees.resize(static_cast<std::size_t>(n * n));
  mask.visible({0, 0, n, 0, n}, pattern.sees.data());
  return pattern;
}

/// Returns the patterns of a mask: one for each word of its first choice, unless the user typed a
/// word or all patterns are the same.
std::vector<Pattern> patterns_of(const MaskRow& row, const FigureInput& input,
                                 const Example& example) {
  std::vector<double> values;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    values.push_back(value_of_parameter(row, i, input, example.n));
  }
  std::vector<Pattern> patterns = {pattern_of(row, values, example)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ParameterInfo& info = row.parameters[i];
    if (info.domain != Domain::choice || !input.value(info.key).empty()) continue;
    for (std::size_t word = 1; word < choice_words(info).size(); ++word) {
      values[i] = static_cast<double>(word);
      Pattern other = pattern_of(row, values, example);
      if (other.sees != patterns.front().sees) patterns.push_back(std::move(other));
    }
    break;
  }
  return patterns;
}

std::vector<Pattern> chosen_patterns(const FigureInput& input, const Example& example) {
  std::vector<std::string> chosen;
  if (const std::string typed = input.value("masks"); !typed.empty()) {
    chosen = parse_names("-p masks", typed);
  } else {
    chosen = names_of(mask_table());
  }
  std::vector<Pattern> patterns;
  for (const std::string& name : chosen) {
    const std::vector<Pattern> own =
        patterns_of(row_named("mask", mask_table(), name), input, example);
    patterns.insert(patterns.end(), own.begin(), own.end());
  }
  return patterns;
}

void draw_pairs(DisplayList& list, const Pattern& p, const Box& box) {
  const double cell = box.width / static_cast<double>(p.n);
  Path seen;
  for (std::int64_t i = 0; i < p.n; ++i) {
    for (std::int64_t j = 0, end = 0; j < p.n; j = end) {
      const std::uint8_t* row = p.sees.data() + i * p.n;
      const std::uint8_t value = row[j];
      end = std::find_if(row + j, row + p.n, [&](std::uint8_t v) { return v != value; }) - row;
      if (value == 0) continue;
      const double x = box.x + cell * static_cast<double>(j);
      const double y = box.y + cell * static_cast<double>(i);
      const double right = box.x + cell * static_cast<double>(end);
      seen.move({x, y}).line({right, y}).line({right, y + cell}).line({x, y + cell}).close();
    }
  }
  list.rectangle(box, Paint::filled({246, 246, 246, 255}));
  list.path(std::move(seen), Paint::filled(blue));
  list.rectangle(box, Paint::stroked(ink, thin_line));
}

std::vector<std::string> notes_of(const Pattern& p, double width) {
  std::vector<std::string> lines;
  if (!p.parameters.empty()) lines = wrap(p.parameters, small_size, width);
  lines.push_back(counted(std::ranges::count(p.sees, 1), "pair"));
  return lines;
}

double draw_row(DisplayList& list, std::span<const Pattern> row, std::size_t first, double top,
                double width) {
  const double map = top + 1.35 * text_size, room = width + gutter - 3;
  double lowest = map + width;
  for (std::size_t k = 0; k < row.size(); ++k) {
    const double x = margin + static_cast<double>(k) * (width + gutter);
    list.group_begin(fmt::format("mask{}", first + k + 1), row[k].name);
    list.text({x, top}, elide(row[k].name, text_size, room, Face::bold),
              {.size = text_size, .face = Face::bold, .align = Align::top, .colour = ink});
    draw_pairs(list, row[k], {x, map, width, width});
    double y = map + width + 2;
    for (const std::string& note : notes_of(row[k], room)) {
      list.text({x, y}, note, {.size = small_size, .align = Align::top, .colour = quiet});
      y += 1.2 * small_size;
    }
    list.group_end();
    lowest = std::max(lowest, y);
  }
  return lowest;
}

std::string examples_text(const std::vector<Pattern>& patterns) {
  std::vector<std::string> examples;
  for (const auto& [operand, text] : {std::pair{MaskOperand::lengths, "the lengths of"},
                                      {MaskOperand::allowed, "two documents for"},
                                      {MaskOperand::edges, "a binary tree for"}}) {
    const auto drawn = std::ranges::find_if(
        patterns, [&, &operand = operand](const Pattern& p) { return p.operand == operand; });
    if (drawn != patterns.end()) examples.push_back(fmt::format("{} {}", text, drawn->name));
  }
  if (examples.empty()) return "";
  if (examples.size() > 1) examples.back() = "and " + examples.back();
  return ". Examples are " + join(examples);
}

}  // namespace

DisplayList make_masks(const FigureInput& input) {
  const auto n = static_cast<std::int64_t>(whole_number("n", input.value("n")));
  if (n < 1 || n > 256) misuse("-p n={}: expected a whole number from 1 to 256", n);
  const std::vector<Pattern> patterns = chosen_patterns(input, Example(n));
  DisplayList list = input.page(single_column, "Masks");
  const std::size_t columns = list.width < 350 ? 4 : 7;
  const double gaps = gutter * static_cast<double>(columns - 1);
  const double width = (list.width - 2 * margin - gaps) / static_cast<double>(columns);
  double y = margin;
  for (std::size_t i = 0; i < patterns.size(); i += columns) {
    const std::size_t count = std::min(columns, patterns.size() - i);
    y = draw_row(list, std::span(patterns).subspan(i, count), i, y, width) + 5;
  }
  finish_with_caption(
      list,
      input.described(fmt::format("Which keys (columns) a query (row) sees, n = {}{}", n,
                                  examples_text(patterns))),
      y + 2);
  return list;
}

}  // namespace conelab::figure
