// Figure `bias`: the biases of the table as curves over the offset j - i', and below it the error
// of HyPE if its bias is computed through additional columns of queries and keys.
//
//   eta^Q_i = -tau sqrt(d)/2 (e^(-mu i), -e^(mu i)),  eta^K_j = (e^(mu j), e^(-mu j))
//   eta^Q_i . eta^K_j / sqrt(d) = -tau sinh(mu (j - i))                   HyPE, section 3
//
// Columns are rounded to each type; products and sums are those of the engine, in float for 16-bit
// types. The error at an offset is the largest over all pairs of positions in [0, n) whose columns
// are finite. Columns overflow where mu i > ln(largest) - ln(|tau| sqrt(d)/2).
#include "core/figure/bias.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/base/names.h"
#include "core/base/random.h"
#include "core/bench/axes.h"
#include "core/drawing/axes.h"
#include "core/drawing/edge_labels.h"
#include "core/drawing/text.h"
#include "core/figure/figure_input.h"
#include "core/pair/bias.h"

namespace conelab::figure {
namespace {

struct Line {
  std::string name;
  std::vector<std::vector<TextRun>> notes;
  std::vector<Point> values;  ///< (offset, value), in the order of offsets.
};

struct Setting {
  const FigureInput& input;
  std::int64_t n, heads, head;
};

std::int64_t within(const FigureInput& input, const char* key, std::int64_t least,
                    std::int64_t most) {
  const auto value = static_cast<std::int64_t>(whole_number(key, input.value(key)));
  if (value < least || value > most) {
    misuse("-p {}={}: expected a whole number from {} to {}", key, value, least, most);
  }
  return value;
}

std::vector<double> table_of(const ParameterInfo& info, const FigureInput& input) {
  std::vector<double> numbers;
  if (const std::string typed = input.value(info.key); typed != "random") {
    for (const std::string& one : parse_names(std::string("-p ") + info.key, typed)) {
      numbers.push_back(number(info.key, one));
    }
    return numbers;
  }
  Random random(whole_number("seed", input.value("seed")));
  while (numbers.size() < 32) numbers.push_back(random.normal());
  return numbers;
}

PartValues values_of(const BiasRow& row, const Setting& s) {
  PartValues values;
  values.tensor.resize(row.parameters.size());
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const ParameterInfo& info = row.parameters[i];
    if (info.domain == Domain::tensor) {
      values.tensor[i] = table_of(info, s.input);
      values.p.push_back(std::nan(""));
      continue;
    }
    const DefaultContext context{s.head, s.heads, s.n, s.n, 0};
    const bool initial = std::isnan(info.initial) && row.initial != nullptr;
    values.p.push_back(typed_value(
        info, s.input, initial ? row.initial(static_cast<int>(i), context) : info.initial));
  }
  return values;
}

std::vector<BiasRow> chosen_rows(const FigureInput& input) {
  const std::vector<BiasRow> all = bias_curves();
  std::vector<BiasRow> chosen;
  const std::string typed = input.value("biases");
  if (typed.empty()) return all;
  for (const std::string& name : parse_names("-p biases", typed)) {
    chosen.push_back(row_named("bias", all, name));
  }
  return chosen;
}

Line curve_of(const BiasRow& row, const PartValues& values, std::int64_t n) {
  Line line{row.name, {}, {}};
  for (std::int64_t offset = 1 - n; offset < n; ++offset) {
    const auto x = static_cast<double>(offset);
    line.values.push_back({x, row.value(values, x)});
  }
  return line;
}

std::string parameters_text(const BiasRow& row, const PartValues& values,
                            const FigureInput& input) {
  std::string text = row.name;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const ParameterInfo& info = row.parameters[i];
    if (info.domain == Domain::tensor) {
      const bool drawn = input.value(info.key) == "random";
      text += fmt::format(", {} of {} buckets{}", info.key, values.tensor[i].size(),
                          drawn ? " drawn from N(0, 1)" : "");
    } else if (info.domain == Domain::choice) {
      text += fmt::format(", {} = {}", info.key,
                          choice_words(info)[static_cast<std::size_t>(values.p[i])]);
    } else {
      text += fmt::format(", {} = {:.4g}", info.key, values.p[i]);
    }
  }
  return text;
}

// ---- the page ----------------------------------------------------------------------------------

void draw_line(DisplayList& list, const Frame& f, const Line& line, std::size_t number,
               const std::string& id) {
  const Colour colour = series_colour(number);
  list.group_begin(fmt::format("{}{}", id, number + 1), line.name);
  Path path;
  for (const Point& p : line.values) {
    if (!std::isfinite(p.y) || (f.y.kind == ScaleKind::log10 && p.y <= 0)) continue;
    path.empty() ? path.move(f.at(p.x, p.y)) : path.line(f.at(p.x, p.y));
  }
  list.path(path, Paint::stroked(colour, data_line));
  // A few markers make it possible to tell the lines apart in grey print.
  const std::size_t count = line.values.size(), step = std::max<std::size_t>(1, count / 8);
  for (std::size_t i = (number * step / 4) % step; i < count; i += step) {
    const Point& p = line.values[i];
    if (!std::isfinite(p.y) || (f.y.kind == ScaleKind::log10 && p.y <= 0)) continue;
    draw_marker(list, f.at(p.x, p.y), number, 3.4, colour);
  }
  list.group_end();
}

struct BiasPanel {
  std::vector<Line> lines;
  Axis x, y;
  const char* id;

  BiasPanel(std::vector<Line> drawn, ScaleKind kind, const char* title, const char* name)
      : lines(std::move(drawn)), id(name) {
    std::vector<double> xs, ys;
    for (const Line& line : lines) {
      for (const Point& p : line.values) xs.push_back(p.x), ys.push_back(p.y);
    }
    x = axis_over(ScaleKind::linear, xs, 5, rich("offset <i>j</i> − <i>i</i>′"));
    y = axis_over(kind, ys, 5, rich(title));
  }

  [[nodiscard]] std::vector<EdgeLabel> labels(const Frame& f) const {
    std::vector<EdgeLabel> all;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Point end = {f.x.high, f.y.low};
      for (const Point& p : lines[i].values) {
        const bool shown = std::isfinite(p.y) && (f.y.kind == ScaleKind::linear || p.y > 0);
        if (shown) end = p;
      }
      all.push_back(
          {f.at(end.x, end.y), name_lines(lines[i].name, 60), lines[i].notes, series_colour(i), i});
    }
    return all;
  }
  void draw(DisplayList& list, const Box& box) const {
    const Frame frame{box, x, y};
    draw_frame(list, frame, std::string(id) + "-axes");
    list.clip_begin(box.grown(2));
    for (std::size_t i = 0; i < lines.size(); ++i) draw_line(list, frame, lines[i], i, id);
    list.clip_end();
    draw_edge_labels(list, labels(frame), box);
  }
};

double draw_panels(DisplayList& list, const std::vector<BiasPanel>& panels) {
  double left = 0, right = 0;
  for (const BiasPanel& p : panels) {
    left = std::max(left, room_left(p.y));
    right = std::max(right, edge_room(p.labels({{0, 0, 1, 1}, p.x, p.y})));
  }
  const double width = std::max(40.0, list.width - 2 * margin - left - right);
  double y = margin + 3;
  for (const BiasPanel& p : panels) {
    const double height = std::max(std::clamp(0.6 * width, 80.0, 180.0),
                                   edge_height(p.labels({{0, 0, 1, 1}, p.x, p.y})));
    p.draw(list, {margin + left, y, width, height});
    y += height + room_below(p.x) + 9;
  }
  return y - 3;
}

// ---- HyPE's columns ----------------------------------------------------------------------------

template <class T>
struct Columns {
  T query[2], key[2];
  Columns(double position, double mu, double tau, double d) {
    const double half = 0.5 * tau * std::sqrt(d);
    query[0] = static_cast<T>(-half * std::exp(-mu * position));
    query[1] = static_cast<T>(half * std::exp(mu * position));
    key[0] = static_cast<T>(std::exp(mu * position));
    key[1] = static_cast<T>(std::exp(-mu * position));
  }
  [[nodiscard]] bool is_finite() const {
    const T all[] = {query[0], query[1], key[0], key[1]};
    return std::ranges::all_of(all, [](T x) { return std::isfinite(static_cast<Compute<T>>(x)); });
  }
};

template <class T>
double product(const Columns<T>& i, const Columns<T>& j, double d) {
  using N = Compute<T>;
  const N sum = static_cast<N>(i.query[0]) * static_cast<N>(j.key[0]) +
                static_cast<N>(i.query[1]) * static_cast<N>(j.key[1]);
  return static_cast<double>(sum * static_cast<N>(1 / std::sqrt(d)));
}

template <class T>
ColumnsError columns_error_in(const char* name, double mu, double tau, double d, std::int64_t n) {
  std::vector<Columns<T>> columns;
  for (std::int64_t i = 0; i < n; ++i) columns.emplace_back(static_cast<double>(i), mu, tau, d);
  ColumnsError error{name, {}, n};
  const auto finite =
      std::ranges::find_if(columns, [](const Columns<T>& c) { return !c.is_finite(); });
  error.positions = finite - columns.begin();
  const std::int64_t m = error.positions;
  for (std::int64_t offset = 1 - n; offset < n; ++offset) {
    const double exact = -tau * std::sinh(mu * static_cast<double>(offset));
    double most = std::abs(offset) < m ? 0 : std::nan("");
    for (std::int64_t i = std::max<std::int64_t>(0, -offset); i < m && i + offset < m; ++i) {
      const auto at = static_cast<std::size_t>(i), other = static_cast<std::size_t>(i + offset);
      most = std::max(most, std::abs(product(columns[at], columns[other], d) - exact));
    }
    error.largest.push_back(most);
  }
  return error;
}

struct ColumnsPanel {
  std::vector<Line> lines;
  std::string text;
};

ColumnsPanel columns_panel(const BiasRow& row, const PartValues& values, const Setting& s) {
  double mu = 0, tau = 0;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    if (row.parameters[i].key == std::string_view("hype_mu")) mu = values.p[i];
    if (row.parameters[i].key == std::string_view("hype_tau")) tau = values.p[i];
  }
  const auto d = static_cast<double>(within(s.input, "d", 1, 1 << 20));
  ColumnsPanel panel;
  panel.text = fmt::format(
      ". Below: the largest error of hype through two extra columns of queries and keys, d = {}, "
      "held in each type",
      d);
  for (const ColumnsError& error : columns_errors(mu, tau, d, s.n)) {
    Line line{error.type, {}, {}};
    for (std::int64_t k = 0; k < 2 * s.n - 1; ++k) {
      line.values.push_back(
          {static_cast<double>(k + 1 - s.n), error.largest[static_cast<std::size_t>(k)]});
    }
    if (error.positions < s.n) {
      line.notes.push_back(rich("overflows"));
      panel.text += fmt::format("; {} overflows from position {} on", error.type, error.positions);
    }
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

}  // namespace

std::vector<ColumnsError> columns_errors(double mu, double tau, double d, std::int64_t n) {
  return {columns_error_in<Bfloat16>("bf16", mu, tau, d, n),
          columns_error_in<Float16>("fp16", mu, tau, d, n),
          columns_error_in<float>("fp32", mu, tau, d, n),
          columns_error_in<double>("fp64", mu, tau, d, n)};
}

std::vector<BiasRow> bias_curves() {
  std::vector<BiasRow> curves;
  for (const BiasRow& row : bias_table()) {
    if (!row.parameters.empty() && !row.of_queries && !row.of_pairs) curves.push_back(row);
  }
  return curves;
}

DisplayList make_bias(const FigureInput& input) {
  Setting s{input, within(input, "n", 2, 2048), within(input, "heads", 1, 1 << 20), 0};
  s.head = within(input, "head", 0, s.heads - 1);
  std::vector<Line> curves;
  ColumnsPanel columns;
  std::string text = fmt::format("Biases of head {} of {}, n = {}", s.head, s.heads, s.n);
  for (const BiasRow& row : chosen_rows(input)) {
    const PartValues values = values_of(row, s);
    curves.push_back(curve_of(row, values, s.n));
    text += "; " + parameters_text(row, values, input);
    if (row.name == std::string_view("hype")) columns = columns_panel(row, values, s);
  }
  std::vector<BiasPanel> panels;
  panels.emplace_back(std::move(curves), ScaleKind::linear, "bias", "bias");
  if (!columns.lines.empty()) {
    panels.emplace_back(std::move(columns.lines), ScaleKind::log10, "error of columns", "error");
  }
  DisplayList list = input.page(single_column, "Position biases");
  finish_with_caption(list, input.described(text + columns.text), draw_panels(list, panels));
  return list;
}

}  // namespace conelab::figure
