#include "core/figure/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/drawing/axes.h"
#include "core/drawing/edge_labels.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

struct Sample {
  double x, y, low, high;
};

struct SeriesCurve {
  std::size_t number;  ///< Number of the series, which decides colour and marker.
  std::vector<Sample> samples;
};

bool positive(double v) { return std::isfinite(v) && v > 0; }

void check(const ScalingSeries& s) {
  const std::size_t n = s.x.size();
  const auto fits = [&](const std::vector<double>& v, bool optional) {
    return v.size() == n || (optional && v.empty());
  };
  if (!fits(s.y, false) || !fits(s.low, true) || !fits(s.high, true) || !fits(s.ratio, true) ||
      !fits(s.ratio_low, true) || !fits(s.ratio_high, true)) {
    misuse(
        "scaling: series '{}' has {} x, {} y, {} low and {} high values (expected as many of "
        "each)",
        s.name, n, s.y.size(), s.low.size(), s.high.size());
  }
}

/// Returns samples in the order of x. An interval that cannot be drawn is replaced by the point.
SeriesCurve curve_of(std::size_t number, const std::vector<double>& x, const std::vector<double>& y,
                     const std::vector<double>& low, const std::vector<double>& high) {
  SeriesCurve curve{number, {}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!positive(x[i]) || !positive(y[i])) continue;
    curve.samples.push_back({x[i], y[i],
                             low.empty() || !positive(low[i]) ? y[i] : std::min(low[i], y[i]),
                             high.empty() || !positive(high[i]) ? y[i] : std::max(high[i], y[i])});
  }
  std::ranges::stable_sort(curve.samples,
                           [](const Sample& a, const Sample& b) { return a.x < b.x; });
  return curve;
}

/// Returns a curve divided by the base curve where both have a point. The interval is that of the
/// curve, divided by the base's median. It does not contain the uncertainty of the base, as the
/// caption says.
SeriesCurve relative(const SeriesCurve& curve, const SeriesCurve& base) {
  SeriesCurve out{curve.number, {}};
  for (const Sample& s : curve.samples) {
    for (const Sample& b : base.samples) {
      if (b.x == s.x) out.samples.push_back({s.x, s.y / b.y, s.low / b.y, s.high / b.y});
    }
  }
  return out;
}

std::vector<TextRun> exponent_note(const ScalingSeries& s) {
  if (!s.exponent || !std::isfinite(*s.exponent)) return {};
  std::string text = fmt::format("<i>n</i><sup>{:.2f}</sup>", *s.exponent);
  if (s.exponent_low && s.exponent_high) {
    text += fmt::format("  [{:.2f}, {:.2f}]", *s.exponent_low, *s.exponent_high);
  }
  for (auto at = text.find('-'); at != std::string::npos; at = text.find('-')) {
    text.replace(at, 1, "−");
  }
  return rich(text);
}

// ---- one panel ---------------------------------------------------------------------------------

struct Panel {
  std::vector<SeriesCurve> curves;
  Frame frame;
  bool ratio = false;
};

Axis x_axis(const std::vector<SeriesCurve>& curves, const std::string& title, double width) {
  std::vector<double> xs;
  for (const SeriesCurve& c : curves) {
    for (const Sample& s : c.samples) xs.push_back(s.x);
  }
  return axis_over(ScaleKind::log2, xs, std::max(2, static_cast<int>(width / 26)), rich(title));
}

bool has_slope(const std::vector<SeriesCurve>& curves) {
  return std::ranges::any_of(curves, [](const SeriesCurve& c) {
    return !c.samples.empty() && c.samples.front().x < c.samples.back().x;
  });
}

/// Returns where several guides begin: at the shortest length, below the lowest median there. They
/// leave room for their labels between them and the curves.
Point fan_start(const std::vector<SeriesCurve>& curves) {
  double x_low = HUGE_VAL, low = HUGE_VAL, high = 0, first = HUGE_VAL;
  for (const SeriesCurve& c : curves) {
    for (const Sample& s : c.samples) {
      if (s.x < x_low) x_low = s.x, first = HUGE_VAL;
      if (s.x == x_low) first = std::min(first, s.y);
      low = std::min(low, s.low), high = std::max(high, s.high);
    }
  }
  return {x_low, first * std::pow(low / high, 0.14)};
}

Axis y_axis(const ScalingFigure& f, const Panel& p, const std::string& title, double height) {
  std::vector<double> ys;
  for (const SeriesCurve& c : p.curves) {
    for (const Sample& s : c.samples) ys.insert(ys.end(), {s.low, s.high});
  }
  if (p.ratio) ys.push_back(1);
  if (!p.ratio && f.guides.size() > 1 && has_slope(p.curves)) ys.push_back(fan_start(p.curves).y);
  return axis_over(ScaleKind::log10, ys, std::max(2, static_cast<int>(height / 18)), rich(title));
}

void draw_band(DisplayList& list, const Frame& f, const SeriesCurve& c, Colour colour) {
  std::vector<Point> outline;
  for (const Sample& s : c.samples) outline.push_back(f.at(s.x, s.high));
  for (auto s = c.samples.rbegin(); s != c.samples.rend(); ++s)
    outline.push_back(f.at(s->x, s->low));
  if (c.samples.size() > 1)
    list.path(Path::polyline(outline, true), Paint::filled(colour.opacity(0.18)));
}

void draw_bars(DisplayList& list, const Frame& f, const SeriesCurve& c, Colour colour) {
  for (const Sample& s : c.samples) {
    const Point low = f.at(s.x, s.low), high = f.at(s.x, s.high);
    if (low.y - high.y < 0.5) continue;  // It would be thinner than its own line.
    list.path(Path()
                  .move(low)
                  .line(high)
                  .move({low.x - 1.5, low.y})
                  .line({low.x + 1.5, low.y})
                  .move({high.x - 1.5, high.y})
                  .line({high.x + 1.5, high.y}),
              Paint::stroked(colour, 0.6));
  }
}

void draw_curve(DisplayList& list, const Frame& f, const SeriesCurve& c, const std::string& id,
                const std::string& name) {
  const Colour colour = series_colour(c.number);
  list.group_begin(fmt::format("{}{}", id, c.number + 1), name);
  std::vector<Point> points;
  for (const Sample& s : c.samples) points.push_back(f.at(s.x, s.y));
  if (points.size() > 1) list.path(Path::polyline(points), Paint::stroked(colour, data_line));
  draw_bars(list, f, c, colour);
  for (const Point& p : points) draw_marker(list, p, c.number, f.box.width > 200 ? 4 : 3.4, colour);
  list.group_end();
}

Point guide_start(const Frame& f, const Guide& guide, const std::vector<SeriesCurve>& curves) {
  double x_low = HUGE_VAL, log_y = HUGE_VAL;
  for (const SeriesCurve& c : curves) {
    if (!c.samples.empty()) x_low = std::min(x_low, c.samples.front().x);
  }
  x_low = std::max(x_low, guide.least_length());
  for (const SeriesCurve& c : curves) {
    for (const Sample& s : c.samples) {
      const double rise = guide.log_time(s.x) - guide.log_time(x_low);
      log_y = std::min(log_y, std::log(s.low) - rise);
    }
  }
  return {x_low, std::exp(log_y - 0.06 * std::log(f.y.high / f.y.low))};
}

/// Returns the points of a guide from its start, in values, to the right edge of the frame; none if
/// it begins beyond that. A guide with a logarithm that would begin at n = 1, where it is 0, begins
/// at 2 as if it had none.
std::vector<Point> guide_points(const Frame& f, const Guide& guide, Point start) {
  if (start.x < guide.least_length()) {
    start.y *= std::pow(guide.least_length() / start.x, guide.power);
    start.x = guide.least_length();
  }
  if (start.x >= f.x.high) return {};
  constexpr int steps = 48;  // n log n is bent. Labels are placed at one of these points.
  std::vector<Point> points;
  for (int i = 0; i <= steps; ++i) {
    const double x = start.x * std::pow(f.x.high / start.x, static_cast<double>(i) / steps);
    points.push_back(f.at(x, start.y * std::exp(guide.log_time(x) - guide.log_time(start.x))));
  }
  return points;
}

/// Returns points along all curves, close enough that no label fits between two of them.
std::vector<Point> along_curves(const Frame& f, const std::vector<SeriesCurve>& curves) {
  std::vector<Point> points;
  for (const SeriesCurve& c : curves) {
    for (std::size_t i = 0; i + 1 < c.samples.size(); ++i) {
      const Point a = f.at(c.samples[i].x, c.samples[i].y);
      const Point b = f.at(c.samples[i + 1].x, c.samples[i + 1].y);
      for (int k = 0; k <= 24; ++k) {
        points.push_back({a.x + (b.x - a.x) * k / 24, a.y + (b.y - a.y) * k / 24});
      }
    }
  }
  return points;
}

/// Returns the name of a guide with the slope of its line, on it or `beside` points to its right.
TextItem guide_label(const Guide& guide, Point from, Point to, double beside) {
  DisplayList one;
  const double turn = std::atan2(to.y - from.y, to.x - from.x);
  const Point across = {-std::sin(turn) * beside, std::cos(turn) * beside};
  one.text({(from.x + to.x) / 2 + across.x, (from.y + to.y) / 2 + across.y},
           rich("∝ " + guide.label),
           {.size = small_size,
            .anchor = Anchor::middle,
            .align = Align::middle,
            .rotation = turn * 180 / std::numbers::pi,
            .colour = quiet,
            .halo = 1.6});
  return std::get<TextItem>(one.items.front());
}

/// The labels of guides should not cover these points.
struct Obstacles {
  std::vector<Point> curves;
  std::vector<std::vector<Point>> guides;  ///< [guide][point]
  std::vector<TextItem> labels;

  [[nodiscard]] double covered(const TextItem& label, std::size_t guide) const {
    constexpr double of_label = 1e4, of_curve = 1, of_guide = 0.5, marker = 2;
    const Quad quad = text_quad(label);
    double sum = 0;
    for (const TextItem& other : labels) sum += overlap(quad, text_quad(other)) ? of_label : 0;
    for (const Point& p : curves) sum += is_near(quad, p, marker) ? of_curve : 0;
    for (std::size_t g = 0; g < guides.size(); ++g) {
      if (g == guide) continue;
      for (const Point& p : guides[g]) sum += is_near(quad, p, line_width) ? of_guide : 0;
    }
    return sum;
  }
};

/// Returns the label of a guide, on its line or beside it, at the place where it covers no other
/// label and as little else as possible. It is absent if there is no place.
std::optional<TextItem> placed_label(const Frame& f, const Guide& guide, std::size_t number,
                                     const Obstacles& obstacles) {
  const std::vector<Point>& points = obstacles.guides[number];
  std::optional<TextItem> best;
  double least = HUGE_VAL;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    for (const double beside : {0.0, small_size - 1, 1 - small_size}) {
      const TextItem label = guide_label(guide, points[i], points[i + 1], beside);
      const Box box = bounds(text_quad(label));
      if (!f.box.contains({box.x, box.y}) || !f.box.contains({box.right(), box.bottom()})) continue;
      const double cost = 0.1 * std::abs(static_cast<double>(i) - 36) + (beside == 0 ? 0 : 1) +
                          obstacles.covered(label, number);
      if (cost < least) least = cost, best = label;
    }
  }
  return best;
}

std::vector<TextItem> draw_guides(DisplayList& list, const Frame& f,
                                  const std::vector<Guide>& guides,
                                  const std::vector<SeriesCurve>& curves) {
  const Point start =
      guides.size() == 1 ? guide_start(f, guides.front(), curves) : fan_start(curves);
  Obstacles obstacles{along_curves(f, curves), {}, {}};
  list.group_begin("guides", "Orders of growth");
  list.clip_begin(f.box);
  for (const Guide& guide : guides) {
    const std::vector<Point> points = guide_points(f, guide, start);
    obstacles.guides.push_back(points);
    if (points.empty()) continue;
    const bool straight = guide.log_power == 0;
    list.path(straight ? Path::segment(points.front(), points.back()) : Path::polyline(points),
              Paint::stroked(quiet, line_width, {3, 2}));
  }
  list.clip_end();
  list.group_end();
  for (std::size_t i = 0; i < guides.size(); ++i) {
    const auto label = placed_label(f, guides[i], i, obstacles);
    if (label) obstacles.labels.push_back(*label);
  }
  return obstacles.labels;
}

std::vector<EdgeLabel> labels_of(const ScalingFigure& f, const Panel& p) {
  std::vector<EdgeLabel> labels;
  for (const SeriesCurve& c : p.curves) {
    if (c.samples.empty()) continue;
    const ScalingSeries& s = f.series[c.number];
    EdgeLabel label{p.frame.at(c.samples.back().x, c.samples.back().y),
                    name_lines(s.name, 0.3 * f.width),
                    {},
                    series_colour(c.number),
                    c.number};
    const auto note = exponent_note(s);
    if (!p.ratio && !note.empty()) label.notes.push_back(note);
    labels.push_back(std::move(label));
  }
  return labels;
}

void draw_panel(DisplayList& list, const ScalingFigure& f, const Panel& p) {
  draw_frame(list, p.frame, p.ratio ? "ratio-axes" : "time-axes");
  std::vector<TextItem> labels;
  if (p.ratio) {
    const double y = p.frame.at(p.frame.x.low, 1).y;
    list.line({p.frame.box.x, y}, {p.frame.box.right(), y}, {quiet, line_width, {3, 2}, Cap::butt});
  } else if (!f.guides.empty() && has_slope(p.curves)) {
    labels = draw_guides(list, p.frame, f.guides, p.curves);
  }
  // The intervals of all series lie below all lines and markers.
  list.group_begin(p.ratio ? "ratio-bands" : "time-bands", "Intervals");
  for (const SeriesCurve& c : p.curves) draw_band(list, p.frame, c, series_colour(c.number));
  list.group_end();
  for (const SeriesCurve& c : p.curves) {
    draw_curve(list, p.frame, c, p.ratio ? "ratio" : "time", f.series[c.number].name);
  }
  for (TextItem& label : labels) list.items.emplace_back(std::move(label));
  draw_edge_labels(list, labels_of(f, p), p.frame.box);
}

// ---- the page ----------------------------------------------------------------------------------

std::vector<Panel> panels_of(const ScalingFigure& f) {
  Panel times, ratios;
  ratios.ratio = true;
  for (std::size_t i = 0; i < f.series.size(); ++i) {
    const ScalingSeries& s = f.series[i];
    check(s);
    times.curves.push_back(curve_of(i, s.x, s.y, s.low, s.high));
    ratios.curves.push_back(s.ratio.empty() ? relative(times.curves.back(), times.curves.front())
                                            : curve_of(i, s.x, s.ratio, s.ratio_low, s.ratio_high));
  }
  std::vector<Panel> panels;
  if (!f.ratio_only) panels.push_back(std::move(times));
  if (f.ratio_only || f.ratio_panel) panels.push_back(std::move(ratios));
  return panels;
}

double panel_height(const ScalingFigure& f, const Panel& p, double width) {
  const double shape = p.ratio && !f.ratio_only ? 0.45 : f.guides.size() > 1 ? 1 : 0.72;
  return std::max(std::clamp(shape * width, 80.0, 230.0), edge_height(labels_of(f, p)));
}

std::string base_name(const ScalingFigure& f) {
  return f.series.empty() ? "first" : clean_text(f.series.front().name);
}

/// Returns whether the name of the base is too long for an axis of this height. The caption
/// contains it then.
bool base_is_long(const ScalingFigure& f, double height) {
  return text_width("time / " + base_name(f), text_size) > height;
}

std::string y_title(const ScalingFigure& f, const Panel& p, double height) {
  if (!p.ratio) return f.y_title;
  return "time / " + (base_is_long(f, height) ? "base" : base_name(f));
}

/// Writes the labels of ratios near one as decimals, which are easier to read than powers of ten.
void write_out_decimals(Axis& axis) {
  for (Tick& t : axis.ticks) {
    if (t.major() && t.value >= 0.00099 && t.value <= 10001) t.label = number_label(t.value);
  }
}

/// Measures labels and axes first; the frame gets the rest of the width.
double arrange(const ScalingFigure& f, std::vector<Panel>& panels) {
  double left = 0, right = 0;
  for (Panel& p : panels) {
    p.frame.y = y_axis(f, p, y_title(f, p, 150), 150);
    left = std::max(left, room_left(p.frame.y));
    right = std::max(right, edge_room(labels_of(f, p)));
  }
  const double width = std::max(40.0, f.width - 2 * margin - left - right);
  double y = margin + 4;
  for (Panel& p : panels) {
    p.frame.x = x_axis(p.curves, f.x_title, width);
    const double height = panel_height(f, p, width);
    p.frame.y = y_axis(f, p, y_title(f, p, height), height);
    if (p.ratio) write_out_decimals(p.frame.y);
    p.frame.box = {margin + left, y, width, height};
    y = p.frame.box.bottom() + room_below(p.frame.x) + 10;
  }
  return y - 6;
}

std::string caption_of(const ScalingFigure& f, const std::vector<Panel>& panels) {
  std::string text = f.caption;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ". ") + more; };
  const bool intervals =
      std::ranges::any_of(f.series, [](const ScalingSeries& s) { return !s.low.empty(); });
  if (intervals && !panels.front().ratio) {
    add(f.coverage > 0 ? fmt::format("Medians with {:.0f} % intervals", 100 * f.coverage)
                       : "Medians; a case of one round has no interval");
  }
  if (panels.back().ratio && base_is_long(f, panels.back().frame.box.height)) {
    add("Base: " + base_name(f));
  }
  const bool by_round =
      std::ranges::any_of(f.series, [](const ScalingSeries& s) { return !s.ratio.empty(); });
  if (panels.back().ratio && by_round) {
    add(fmt::format("Ratios within each round, median and {:.0f} % sign-test interval",
                    100 * f.ratio_coverage));
  } else if (panels.back().ratio && intervals) {
    add("Ratios to the median of the first series");
  }
  return text;
}

}  // namespace

double Guide::log_time(double n) const {
  const double logarithm = std::log(n);
  return power * logarithm + (log_power == 0 ? 0 : log_power * std::log(logarithm));
}

Guide power_guide(double power) {
  if (power == 1) return {"<i>n</i>", 1};
  return {fmt::format("<i>n</i><sup>{:g}</sup>", power), power};
}

std::vector<PlacedSample> scaling_samples(const ScalingFigure& figure) {
  std::vector<Panel> panels = panels_of(figure);
  arrange(figure, panels);
  std::vector<PlacedSample> placed;
  for (const Panel& p : panels) {
    for (const SeriesCurve& c : p.curves) {
      for (const Sample& s : c.samples) {
        placed.push_back({p.frame.at(s.x, s.y), c.number, s.x, s.y, s.low, s.high, p.ratio});
      }
    }
  }
  return placed;
}

DisplayList draw_scaling(const ScalingFigure& figure) {
  std::vector<Panel> panels = panels_of(figure);
  DisplayList list = begin_page(figure.width, figure.metadata, "Run time against sequence length");
  const double y = arrange(figure, panels);
  for (const Panel& p : panels) draw_panel(list, figure, p);
  finish_with_caption(list, caption_of(figure, panels), y);
  return list;
}

}  // namespace conelab::figure
