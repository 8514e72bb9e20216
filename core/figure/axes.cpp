#include "core/figure/axes.h"

#include <algorithm>
#include <cmath>

#include "core/figure/font_metrics.h"
#include "core/figure/style.h"

namespace conelab::figure {
namespace {

constexpr double tick_length = 3, minor_length = 1.8, label_gap = 2, title_gap = 3;

double widest_label(const Axis& axis) {
  double width = 0;
  for (const Tick& t : axis.ticks) width = std::max(width, text_width(t.label, text_size));
  return width;
}

bool in_range(const Axis& axis, double value) {
  const double f = axis.fraction(value);
  return f > -1e-6 && f < 1 + 1e-6;
}

void draw_grid(DisplayList& list, const Frame& f) {
  for (const Tick& t : f.x.ticks) {
    if (!t.major() || !in_range(f.x, t.value)) continue;
    const double x = f.at(t.value, f.y.low).x;
    list.line({x, f.box.y}, {x, f.box.bottom()}, {grid_line, thin_line});
  }
  for (const Tick& t : f.y.ticks) {
    if (!t.major() || !in_range(f.y, t.value)) continue;
    const double y = f.at(f.x.low, t.value).y;
    list.line({f.box.x, y}, {f.box.right(), y}, {grid_line, thin_line});
  }
}

void draw_x_ticks(DisplayList& list, const Frame& f) {
  double free_from = -1e300;  // Labels are drawn from left to right.
  for (const Tick& t : f.x.ticks) {
    if (!in_range(f.x, t.value)) continue;
    const Point p = {f.at(t.value, f.y.low).x, f.box.bottom()};
    list.line(p, {p.x, p.y + (t.major() ? tick_length : minor_length)}, {ink, thin_line});
    const double half = text_width(t.label, text_size) / 2;
    if (!t.major() || p.x - half < free_from) continue;
    list.text({p.x, p.y + tick_length + label_gap}, t.label,
              {.size = text_size, .anchor = Anchor::middle, .align = Align::top, .colour = ink});
    free_from = p.x + half + 3;
  }
}

void draw_y_ticks(DisplayList& list, const Frame& f) {
  double free_below = 1e300;  // Labels are drawn upwards.
  for (const Tick& t : f.y.ticks) {
    if (!in_range(f.y, t.value)) continue;
    const Point p = {f.box.x, f.at(f.x.low, t.value).y};
    list.line(p, {p.x - (t.major() ? tick_length : minor_length), p.y}, {ink, thin_line});
    if (!t.major() || p.y + text_size / 2 > free_below) continue;
    list.text({p.x - tick_length - label_gap, p.y}, t.label,
              {.size = text_size, .anchor = Anchor::end, .align = Align::middle, .colour = ink});
    free_below = p.y - text_size / 2 - 1;
  }
}

void draw_titles(DisplayList& list, const Frame& f) {
  const Box& b = f.box;
  list.text({b.x + b.width / 2, b.bottom() + room_below(f.x)}, f.x.title,
            {.size = text_size, .anchor = Anchor::middle, .align = Align::bottom, .colour = ink});
  list.text({b.x - room_left(f.y), b.y + b.height / 2}, f.y.title,
            {.size = text_size,
             .anchor = Anchor::middle,
             .align = Align::top,
             .rotation = -90,
             .colour = ink});
}

/// Returns whether a value can be on an axis. Magnitudes near the ends of double would overflow
/// when ranges are widened.
bool usable(ScaleKind kind, double value) {
  constexpr double largest = 1e290;
  return std::abs(value) <= largest && (kind == ScaleKind::linear || value >= 1 / largest);
}

/// Widens a range by a fraction of its length, measured on its scale.
void widen(Axis& axis, double part) {
  if (axis.kind == ScaleKind::linear) {
    const double size = std::max(std::abs(axis.low), std::abs(axis.high));
    const double span = axis.high > axis.low ? axis.high - axis.low : (size > 0 ? size : 1);
    axis.low -= part * span, axis.high += part * span;
  } else {
    const double span = axis.high > axis.low ? std::log(axis.high / axis.low) : std::log(10.0);
    axis.low *= std::exp(-part * span), axis.high *= std::exp(part * span);
  }
}

}  // namespace

double Axis::fraction(double value) const {
  // Halving first avoids overflow of the difference of two huge numbers.
  const auto measure = [&](double v) { return kind == ScaleKind::linear ? v / 2 : std::log(v); };
  const double span = measure(high) - measure(low);
  return span > 0 ? (measure(value) - measure(low)) / span : 0.5;
}

Axis axis_over(ScaleKind kind, const std::vector<double>& values, int most_ticks,
               std::vector<TextRun> title) {
  Axis axis{kind, 1e300, -1e300, {}, std::move(title)};
  for (const double v : values) {
    if (usable(kind, v)) axis.low = std::min(axis.low, v), axis.high = std::max(axis.high, v);
  }
  if (axis.high < axis.low) {
    axis.low = kind == ScaleKind::linear ? 0 : 1, axis.high = kind == ScaleKind::linear ? 1 : 10;
  } else {
    widen(axis, axis.high > axis.low ? 0.05 : 0.5);
  }
  axis.ticks = kind == ScaleKind::linear  ? linear_ticks(axis.low, axis.high, most_ticks)
               : kind == ScaleKind::log10 ? log_ticks(axis.low, axis.high, most_ticks)
                                          : binary_ticks(axis.low, axis.high, most_ticks);
  return axis;
}

Point Frame::at(double x_value, double y_value) const {
  return {box.x + box.width * x.fraction(x_value), box.bottom() - box.height * y.fraction(y_value)};
}

double room_left(const Axis& y) {
  const double title = y.title.empty() ? 0 : title_gap + (ascent() + descent()) * text_size;
  return tick_length + label_gap + widest_label(y) + title;
}

double room_below(const Axis& x) {
  const double line = (ascent() + descent()) * text_size;
  return tick_length + label_gap + line + (x.title.empty() ? 0 : title_gap + line);
}

void draw_frame(DisplayList& list, const Frame& frame, const std::string& id) {
  list.group_begin(id, "Axes");
  draw_grid(list, frame);
  const Box& b = frame.box;
  list.path(Path::polyline({{b.x, b.y}, {b.x, b.bottom()}, {b.right(), b.bottom()}}),
            {transparent, {ink, line_width, {}, Cap::square}});
  draw_x_ticks(list, frame);
  draw_y_ticks(list, frame);
  draw_titles(list, frame);
  list.group_end();
}

}  // namespace conelab::figure
