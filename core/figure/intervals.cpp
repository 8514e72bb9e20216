#include "core/figure/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/drawing/axes.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"
#include "core/figure/figure_input.h"

namespace conelab::figure {
namespace {

constexpr double highest_row = 10.5, least_label_row = 6.8;  ///< In points.
constexpr double narrowest_bar = 0.4;                        ///< Width in points.

bool is_placed(const Interval& t) { return std::isfinite(t.low) && std::isfinite(t.high); }

bool is_umbral(const tree::HeadElements& tokens) { return !tokens.system.family->penumbral; }

std::vector<std::size_t> outer_first(const std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return !is_placed(intervals[i]); });
  std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) {
    const Interval &a = intervals[i], &b = intervals[j];
    return a.low != b.low ? a.low < b.low : a.high > b.high;
  });
  return order;
}

}  // namespace

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::vector<Interval> intervals_of(const tree::HeadElements& tokens, const std::string& what) {
  if (!tokens.system.infinite()) {
    misuse("{} shows cones whose light is at infinity (umbral, penumbral), not {}", what,
           tokens.system.family->name);
  }
  const double c = is_umbral(tokens) ? 0.5 / std::sinh(tokens.system.values.at(0)) : 1;
  std::vector<Interval> out;
  for (const geometry::Element& e : tokens.elements) {
    if (e.axis.size() != 1) {
      misuse("{} shows tokens with d = 2, these have d = {}", what, e.axis.size() + 1);
    }
    out.push_back({c * (e.axis[0] - e.shadow), c * (e.axis[0] + e.shadow)});
  }
  return out;
}

std::size_t keep_within(std::vector<Interval>& intervals, std::size_t token) {
  const Interval outer = intervals[token];
  std::size_t kept = 0;
  for (Interval& t : intervals) {
    outer.spans(t) ? void(++kept) : void(t = {std::nan(""), std::nan("")});
  }
  return kept;
}

// The intervals come in the order of `outer_first`, so that those above one came before it. Of the
// ends of the last bar of each level, those of higher levels are larger: the level of a bar is the
// first whose end does not reach its own.
IntervalRows interval_rows(const std::vector<Interval>& intervals) {
  IntervalRows out{std::vector<std::size_t>(intervals.size()), {}, {0}};
  out.level = out.row;
  std::vector<const Interval*> last;           // [levels]
  std::vector<std::vector<double>> free_from;  // [levels][rows] Where a bar of a row ends.
  for (const std::size_t i : outer_first(intervals)) {
    const Interval& own = intervals[i];
    const auto place = std::ranges::partition_point(
        last, [&](const Interval* above) { return above->high >= own.high && *above != own; });
    const auto level = static_cast<std::size_t>(place - last.begin());
    if (level == last.size()) last.push_back(&own), free_from.emplace_back();
    last[level] = &own;
    std::vector<double>& rows = free_from[level];
    const auto row = std::ranges::find_if(rows, [&](double end) { return end < own.low; });
    out.level[i] = level, out.row[i] = static_cast<std::size_t>(row - rows.begin());
    row == rows.end() ? rows.push_back(own.high) : void(*row = own.high);
  }
  for (const auto& rows : free_from) out.first_row.push_back(out.first_row.back() + rows.size());
  for (std::size_t i = 0; i < intervals.size() && !last.empty(); ++i) {
    out.row[i] += out.first_row[out.level[i]];
  }
  return out;
}

double IntervalScale::operator()(double coordinate) const {
  if (ends.size() < 2) return 0.5;
  if (!by_rank) return (coordinate - ends.front()) / (ends.back() - ends.front());
  const auto above = std::ranges::upper_bound(ends, coordinate);
  if (above == ends.begin()) return 0;
  if (above == ends.end()) return 1;
  const double low = *(above - 1), part = (coordinate - low) / (*above - low);
  return (static_cast<double>(above - 1 - ends.begin()) + part) /
         static_cast<double>(ends.size() - 1);
}

namespace {

IntervalScale scale_of(const IntervalFigure& f) {
  IntervalScale scale{f.by_rank, {}};
  for (const Interval& t : f.intervals) {
    if (is_placed(t)) scale.ends.insert(scale.ends.end(), {t.low, t.high});
  }
  std::ranges::sort(scale.ends);
  scale.ends.erase(std::unique(scale.ends.begin(), scale.ends.end()), scale.ends.end());
  return scale;
}

figure::Axis coordinate_axis(const IntervalFigure& f, const IntervalScale& scale) {
  figure::Axis axis{ScaleKind::linear, 0, 1, {}, rich(f.axis)};
  if (scale.ends.empty()) return axis;
  const int most = std::clamp(static_cast<int>(f.width / 45), 3, 9);
  std::vector<double> values;
  for (int i = 0; scale.by_rank && i < most; ++i) {
    const auto last = static_cast<double>(scale.ends.size() - 1);
    values.push_back(scale.ends[static_cast<std::size_t>(std::lround(last * i / (most - 1)))]);
  }
  if (!scale.by_rank) {
    for (const Tick& t : linear_ticks(scale.ends.front(), scale.ends.back(), most)) {
      values.push_back(t.value);
    }
  }
  for (const double value : values) axis.ticks.push_back({scale(value), number_label(value, 3)});
  return axis;
}

figure::Axis level_axis(const IntervalRows& rows) {
  const auto count = static_cast<double>(std::max<std::size_t>(1, rows.first_row.back()));
  figure::Axis axis{ScaleKind::linear, -count, 0, {}, rich("level")};
  for (std::size_t level = rows.first_row.size() - 1; level-- > 0;) {  // From the bottom.
    const auto middle = static_cast<double>(rows.first_row[level] + rows.first_row[level + 1]) / 2;
    axis.ticks.push_back({-middle, number_label(static_cast<double>(level))});
  }
  return axis;
}

class IntervalPainter {
 public:
  IntervalPainter(const IntervalFigure& f, DrawnIntervals& drawn) : f_(f), drawn_(drawn) {
    for (std::size_t i = 0; i < f.intervals.size(); ++i) {
      if (is_placed(f.intervals[i])) numbers_.include({number(i), number(i)});
    }
  }

  double draw(double top) {
    if (f_.pair) top += highest_row + 3;
    Frame frame{{}, coordinate_axis(f_, drawn_.scale), level_axis(drawn_.rows)};
    const double row = std::min(highest_row, 0.6 * f_.width / -frame.y.low);
    if (text_width(frame.y.title, text_size) > row * -frame.y.low) frame.y.title.clear();
    const double left = margin + room_left(frame.y);
    const double half_label =
        frame.x.ticks.empty() ? 0 : text_width(frame.x.ticks.back().label, text_size) / 2;
    frame.box = {left, top, f_.width - margin - std::max(6.0, half_label) - left,
                 row * -frame.y.low};
    drawn_.field = frame.box;
    draw_frame(drawn_.list, frame);
    place_bars(row);
    draw_bars();
    if (row >= least_label_row) draw_labels();
    if (f_.pair) draw_hull(top);
    double bottom = frame.box.bottom() + room_below(frame.x);
    if (f_.numbers.empty() || numbers_.empty()) return bottom;
    const double width = std::min(170.0, 0.8 * frame.box.width);
    draw_colour_bar(drawn_.list,
                    {ColourMap::sequential, HeatScale::linear, numbers_, f_.numbers_title, {}},
                    {left + (frame.box.width - width) / 2, bottom + 5, width, colour_bar_height});
    return bottom + 5 + colour_bar_height;
  }

 private:
  const IntervalFigure& f_;
  DrawnIntervals& drawn_;
  Limits numbers_;

  [[nodiscard]] double number(std::size_t i) const {
    return f_.numbers.empty() ? static_cast<double>(drawn_.rows.level[i]) : f_.numbers[i];
  }
  /// The lightest and the darkest colours of the map are left out of levels.
  [[nodiscard]] Colour colour(std::size_t i) const {
    const double place = place_on_map(number(i), numbers_, HeatScale::linear);
    return colour_at(ColourMap::sequential, f_.numbers.empty() ? 0.12 + 0.7 * place : place);
  }
  [[nodiscard]] double x(double coordinate) const {
    return drawn_.field.x + drawn_.field.width * drawn_.scale(coordinate);
  }
  [[nodiscard]] Box box_of(const Interval& t, double y, double height) const {
    const double width = std::max(narrowest_bar, x(t.high) - x(t.low));
    return {(x(t.low) + x(t.high) - width) / 2, y, width, height};
  }
  void place_bars(double row) {
    for (std::size_t i = 0; i < f_.intervals.size(); ++i) {
      const double y = drawn_.field.y + row * static_cast<double>(drawn_.rows.row[i]);
      drawn_.bars.push_back(
          is_placed(f_.intervals[i]) ? box_of(f_.intervals[i], y + 0.05 * row, 0.9 * row) : Box{});
    }
  }
  void draw_bars() {
    drawn_.list.group_begin("bars", "A bar for each token, below those of its ancestors");
    for (std::size_t i = 0; i < drawn_.bars.size(); ++i) {
      if (drawn_.bars[i].width > 0) {
        drawn_.list.rectangle(drawn_.bars[i], Paint::filled(colour(i)));
      }
    }
    drawn_.list.group_end();
  }
  /// Writes each name into its bar or, if that is too narrow, to the right of it where the row is
  /// free. Otherwise a bar that is not too short has a shortened name.
  void draw_labels() {
    std::vector<std::size_t> order = outer_first(f_.intervals);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return drawn_.rows.row[i]; });
    drawn_.list.group_begin("names", "Names of tokens");
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Box& bar = drawn_.bars[order[k]];
      const bool alone = k + 1 == order.size() || drawn_.bars[order[k + 1]].y != bar.y;
      const double end = alone ? drawn_.field.right() : drawn_.bars[order[k + 1]].x;
      draw_label(order[k], bar, end - bar.right());
    }
    drawn_.list.group_end();
  }
  void draw_label(std::size_t i, const Box& bar, double beside) {
    constexpr double space = 1, shortest = 22;
    const std::string name = token_text(f_.names[i]);
    const double width = text_width(name, small_size) + 2 * space;
    const double y = bar.y + bar.height / 2;
    if (width > bar.width && width <= beside) {
      return drawn_.list.text({bar.right() + space, y}, name,
                              {.size = small_size, .align = Align::middle, .colour = ink});
    }
    if (width > bar.width && bar.width < shortest) return;
    const Colour fill = colour(i);
    const bool dark = 0.3 * fill.r + 0.59 * fill.g + 0.11 * fill.b < 140;
    drawn_.list.text({bar.x + bar.width / 2, y}, elide(name, small_size, bar.width - 2 * space),
                     {.size = small_size,
                      .anchor = Anchor::middle,
                      .align = Align::middle,
                      .colour = dark ? white : ink});
  }
  void draw_hull(double top) {
    const auto [i, j] = *f_.pair;
    const Box box =
        box_of(hull(f_.intervals[i], f_.intervals[j]), top - highest_row - 1, highest_row - 2);
    const Stroke line{vermilion, line_width};
    drawn_.list.group_begin("hull", "The hull of two tokens, their lowest common ancestor");
    for (const double side : {box.x, box.right()}) {
      drawn_.list.line({side, box.bottom()}, {side, drawn_.field.bottom()},
                       {vermilion, thin_line, {2, 1.5}});
    }
    drawn_.list.rectangle(box, {vermilion.opacity(0.15), line});
    for (const std::size_t token : {i, j}) {
      drawn_.list.rectangle(drawn_.bars[token].grown(0.4), {transparent, line});
    }
    const std::string text = elide(clean_text(f_.pair_text), small_size, drawn_.field.width);
    const double half = text_width(text, small_size) / 2;
    const double middle = std::clamp(box.x + box.width / 2, drawn_.field.x + half,
                                     std::max(drawn_.field.x, drawn_.field.right() - half));
    drawn_.list.text({middle, box.y + box.height / 2}, text,
                     {.size = small_size,
                      .anchor = Anchor::middle,
                      .align = Align::middle,
                      .colour = ink,
                      .halo = 0.8});
    drawn_.list.group_end();
  }
};

}  // namespace

DrawnIntervals place_intervals(const IntervalFigure& figure) {
  DrawnIntervals drawn{begin_page(figure.width, figure.metadata, "Tokens as nested intervals"),
                       {},
                       {},
                       scale_of(figure),
                       interval_rows(figure.intervals)};
  drawn.list.height = std::ceil(IntervalPainter(figure, drawn).draw(margin));
  return drawn;
}

// ---- the figure ---------------------------------------------------------------------------------

namespace {

std::size_t token_named(const char* key, const std::string& text, const FigureInput& input) {
  if (const auto number = parse_integer(text)) {
    if (*number >= 0 && static_cast<std::size_t>(*number) < input.tree->size) {
      return static_cast<std::size_t>(*number);
    }
    misuse("-p {}: expected a token from 0 to {}, found {}", key, input.tree->size - 1, text);
  }
  const auto found = std::ranges::find(input.tokens, text);
  if (found != input.tokens.end()) return static_cast<std::size_t>(found - input.tokens.begin());
  const std::string nearest = nearest_name(text, input.tokens);
  misuse("-p {}: no token is '{}'{}", key, text,
         nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
}

std::array<std::size_t, 2> pair_named(const std::string& text, const FigureInput& input) {
  const std::size_t comma = text.find(',', 1);
  if (comma == std::string::npos) {
    misuse("-p pair={}: expected two tokens, as 3,7 or dog.n.01,cat.n.01", text);
  }
  return {token_named("pair", text.substr(0, comma), input),
          token_named("pair", text.substr(comma + 1), input)};
}

void choose_numbers(IntervalFigure& f, const FigureInput& input) {
  const std::string choice = input.value("colour");
  if (choice == "height") {
    for (const geometry::Element& e : input.tree->placed->elements) {
      f.numbers.push_back(std::log10(e.radial));
    }
    f.numbers_title = "log10 of the token's height";
  } else if (choice == "value") {
    const auto* lengths = std::any_cast<std::vector<double>>(&input.own);
    if (lengths == nullptr) {
      misuse("-p colour=value: these tokens have no v; give the keys of a trace (q, k, v)");
    }
    f.numbers = *lengths;
    f.numbers_title = "length of the token's value, |v|";
  }
}

std::string pair_text(const FigureInput& input, const std::vector<std::string>& names,
                      const std::array<std::size_t, 2>& pair) {
  const auto& placed = *input.tree->placed;
  const geometry::Lca lca =
      geometry::lca(placed.system, placed.elements[pair[0]], placed.elements[pair[1]]);
  return fmt::format("LCA of {} and {}: {}", names[pair[0]], names[pair[1]],
                     lca.place ? fmt::format("height {:.4g}", lca.radial) : "none");
}

std::string intervals_caption(const FigureInput& input, const IntervalFigure& f,
                              std::size_t placed) {
  const geometry::ConeSystem& system = input.tree->placed->system;
  std::string text =
      fmt::format("{}. {} cones, {} = {:.4g}, as intervals: ", input.caption, system.family->name,
                  system.family->parameters[0].key, system.values[0]);
  text += is_umbral(*input.tree->placed) ? "c x ± y/2 with c = 1/(2 sinh r)"
                                         : "the shadows of tokens on the horizon";
  text +=
      "; a token is an ancestor of those that its bar spans; level: the longest chain of those "
      "above";
  if (f.by_rank) text += "; ends are in their order at equal distances";
  if (f.pair) text += "; frame: the hull of two tokens, which is their lowest common ancestor";
  if (const std::size_t lost = f.intervals.size() - placed; lost > 0) {
    text += fmt::format("; {} without a place: padding or not finite", lost);
  }
  return text;
}

}  // namespace

DisplayList make_intervals(const FigureInput& input) {
  if (!input.tree->placed || input.tree->size == 0) {
    misuse("figure intervals shows tokens of umbral or penumbral cones, which {} is not",
           input.cone.empty() ? "this" : input.cone);
  }
  IntervalFigure f;
  f.intervals = intervals_of(*input.tree->placed, "figure intervals");
  f.names = input.tokens;
  for (std::size_t i = f.names.size(); i < f.intervals.size(); ++i) {
    f.names.push_back(std::to_string(i));
  }
  const auto placed = static_cast<std::size_t>(std::ranges::count_if(f.intervals, is_placed));
  std::string shown;
  if (const std::string within = input.value("within"); !within.empty()) {
    const std::size_t token = token_named("within", within, input);
    shown = fmt::format(". The {} of {} tokens that {} spans", keep_within(f.intervals, token),
                        f.intervals.size(), f.names[token]);
  }
  choose_numbers(f, input);
  f.by_rank = input.value("scale") == "rank";
  f.axis = is_umbral(*input.tree->placed) ? "<i>c x</i>" : "<i>x</i>";
  if (const std::string pair = input.value("pair"); !pair.empty()) {
    f.pair = pair_named(pair, input);
    for (const std::size_t token : *f.pair) {
      if (!is_placed(f.intervals[token])) {
        misuse("-p pair: {} is not shown{}", f.names[token],
               shown.empty() ? ": it has no place" : ", as -p within leaves it out");
      }
    }
    f.pair_text = pair_text(input, f.names, *f.pair);
  }
  f.width = input.width_or(double_column);
  f.metadata = input.metadata;
  DrawnIntervals drawn = place_intervals(f);
  finish_with_caption(drawn.list, input.described(intervals_caption(input, f, placed) + shown),
                      drawn.list.height + 3);
  return drawable(std::move(drawn.list), input.parameters);
}

}  // namespace conelab::figure
