#include "core/figure/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/drawing/axes.h"
#include "core/drawing/edge_labels.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"
#include "core/drawing/text.h"

namespace conelab::figure {
namespace {

constexpr double marker_size = 4.5;

bool in_range(double v) { return v >= 1e-290 && v <= 1e290; }
bool is_drawn(const RooflinePoint& p) { return in_range(p.intensity) && in_range(p.performance); }

RooflineFigure drawable(RooflineFigure f) {
  const auto bad_ceiling = [](const RooflineCeiling& c) { return !in_range(c.value); };
  std::erase_if(f.peaks, bad_ceiling);
  std::erase_if(f.bandwidths, bad_ceiling);
  std::erase_if(f.points, [](const RooflinePoint& p) { return !is_drawn(p); });
  for (RooflinePoint& p : f.points) {
    p.low = in_range(p.low) ? std::min(p.low, p.performance) : p.performance;
    p.high = in_range(p.high) ? std::max(p.high, p.performance) : p.performance;
  }
  return f;
}

double largest(const std::vector<RooflineCeiling>& ceilings) {
  double value = 0;
  for (const RooflineCeiling& c : ceilings) value = std::max(value, c.value);
  return value;
}

bool has_bars(const RooflineFigure& f) {
  return std::ranges::any_of(f.points, [](const RooflinePoint& p) { return p.low < p.high; });
}

std::vector<EdgeLabel> labels_of(const RooflineFigure& f, const Frame& frame) {
  std::vector<EdgeLabel> labels;
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const RooflinePoint& p = f.points[i];
    labels.push_back({frame.at(p.intensity, p.performance),
                      name_lines(p.name, 0.3 * f.width),
                      {},
                      series_colour(i),
                      i});
  }
  return labels;
}

Frame frame_of(const RooflineFigure& f) {
  std::vector<double> xs, ys;
  for (const RooflinePoint& p : f.points) {
    xs.insert(xs.end(), {p.intensity / 2, p.intensity * 2});
    ys.insert(ys.end(), {p.low / 1.5, p.high * 1.5});
  }
  for (const RooflineCeiling& peak : f.peaks) {
    ys.push_back(peak.value * 1.8);
    for (const RooflineCeiling& b : f.bandwidths) {
      const double ridge = peak.value / b.value;
      xs.insert(xs.end(), {ridge / 4, ridge * 8});
    }
  }
  Frame frame;
  frame.x =
      axis_over(ScaleKind::log10, xs, 8, rich("intensity (FLOP per byte of inputs + outputs)"));
  if (const double b = largest(f.bandwidths); b > 0) ys.push_back(b * frame.x.low);
  frame.y = axis_over(ScaleKind::log10, ys, 8, rich("performance (FLOP/s)"));
  const double left = margin + room_left(frame.y);
  const std::vector<EdgeLabel> labels = labels_of(f, frame);
  const double right = std::max(4.0, edge_room(labels));
  const double width = std::max(40.0, f.width - left - margin - right);
  frame.box = {left, margin + 4, width,
               std::max(std::clamp(0.8 * width, 80.0, 240.0), edge_height(labels))};
  return frame;
}

/// Returns the part of a ceiling that lies below the roof and inside the frame, from left to right
/// on the page. Lines of memory end at the highest peak, and peaks begin at the fastest memory.
std::optional<std::pair<Point, Point>> visible_part(const RooflineFigure& f, const Frame& frame,
                                                    double value, bool memory) {
  const double other = largest(memory ? f.peaks : f.bandwidths);
  double begin = frame.x.low, end = frame.x.high;
  if (memory) {
    begin = std::max(begin, frame.y.low / value);
    end = std::min({end, frame.y.high / value, other > 0 ? other / value : end});
  } else if (other > 0) {
    begin = std::max(begin, value / other);
  }
  if (!(begin < end)) return std::nullopt;
  return std::pair{frame.at(begin, memory ? value * begin : value),
                   frame.at(end, memory ? value * end : value)};
}

std::string with_unit(const RooflineCeiling& c, const char* unit) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  const int step = std::clamp(static_cast<int>(std::floor(std::log10(c.value) / 3)), 0, 6);
  return fmt::format("{}: {:.3g} {}{}", c.name, c.value / std::pow(1000, step), prefixes[step],
                     unit);
}

/// Adds the text unless it would leave the frame or cover an earlier text or a point. Returns
/// whether it was added.
bool add_if_free(DisplayList& list, const RooflineFigure& f, const Frame& frame,
                 const TextItem& item) {
  const Quad quad = text_quad(item);
  if (!std::ranges::all_of(quad, [&](Point p) { return frame.box.contains(p); })) return false;
  for (const RooflinePoint& p : f.points) {
    const Point at = frame.at(p.intensity, p.performance);
    const double r = marker_size / 2;
    const Quad marker = {
        {{at.x - r, at.y - r}, {at.x + r, at.y - r}, {at.x + r, at.y + r}, {at.x - r, at.y + r}}};
    if (overlap(quad, marker)) return false;
  }
  for (const Item& other : list.items) {
    const auto* text = std::get_if<TextItem>(&other);
    if (text != nullptr && overlap(quad, text_quad(*text))) return false;
  }
  list.items.emplace_back(item);
  return true;
}

double length_of(Point from, Point to) { return std::hypot(to.x - from.x, to.y - from.y); }

/// Names a ceiling along its line, just above it, at the first free place between two points.
/// Returns false if there is none.
bool name_along(DisplayList& list, const RooflineFigure& f, const Frame& frame,
                const std::string& name, Point from, Point to) {
  if (length_of(from, to) < text_width(name, small_size) + 4) return false;
  const double turn = std::atan2(to.y - from.y, to.x - from.x);
  for (const double t : {0.65, 0.5, 0.8, 0.35, 0.2, 0.9, 0.1}) {
    const Point at = {from.x + t * (to.x - from.x) + 2.5 * std::sin(turn),
                      from.y + t * (to.y - from.y) - 2.5 * std::cos(turn)};
    const TextItem item{at,  {{name}}, small_size, Anchor::middle, turn * 180 / std::numbers::pi,
                        ink, 0.8};
    if (add_if_free(list, f, frame, item)) return true;
  }
  return false;
}

std::optional<double> ridge_of(const RooflineFigure& f) {
  const auto roof = [](const std::vector<RooflineCeiling>& ceilings) {
    const double value = largest(ceilings);
    const auto none = [&](const auto& c) { return c.value == value && !c.trusted; };
    return std::ranges::any_of(ceilings, none) ? 0 : value;
  };
  const double peak = roof(f.peaks), bandwidth = roof(f.bandwidths);
  if (peak <= 0 || bandwidth <= 0) return std::nullopt;
  return peak / bandwidth;
}

std::pair<Point, Point> ridge_line(const RooflineFigure& f, const Frame& frame, double ridge) {
  return {frame.at(ridge, frame.y.low), frame.at(ridge, largest(f.peaks))};
}

std::string name_ceilings(DisplayList& list, const RooflineFigure& f, const Frame& frame) {
  std::string left_out;
  for (const bool memory : {false, true}) {
    for (const RooflineCeiling& c : memory ? f.bandwidths : f.peaks) {
      const std::string whole = clean_text(with_unit(c, memory ? "B/s" : "FLOP/s"));
      const auto ends = visible_part(f, frame, c.value, memory);
      if (ends && name_along(list, f, frame, whole, ends->first, ends->second)) continue;
      // Part of a number would mislead. The line has its bare name then, and the caption the
      // number.
      if (ends) name_along(list, f, frame, clean_text(c.name), ends->first, ends->second);
      left_out += (left_out.empty() ? "" : "; ") + whole;
    }
  }
  if (const auto ridge = ridge_of(f)) {
    const std::string name = fmt::format("ridge: {:.3g} FLOP/byte", *ridge);
    const auto [from, to] = ridge_line(f, frame, *ridge);
    if (!name_along(list, f, frame, name, from, to)) {
      left_out += (left_out.empty() ? "" : "; ") + name;
    }
  }
  return left_out;
}

void draw_roofs(DisplayList& list, const RooflineFigure& f, const Frame& frame) {
  list.group_begin("roofs", "Ceilings");
  const double peak = largest(f.peaks), bandwidth = largest(f.bandwidths);
  for (const bool memory : {false, true}) {
    for (const RooflineCeiling& c : memory ? f.bandwidths : f.peaks) {
      const auto ends = visible_part(f, frame, c.value, memory);
      if (!ends) continue;
      const bool roof = c.trusted && c.value == (memory ? bandwidth : peak);
      const std::vector<double> dash = roof ? std::vector<double>{} : std::vector<double>{3, 2};
      list.line(ends->first, ends->second, {roof ? ink : quiet, roof ? 1.2 : line_width, dash});
    }
  }
  if (const auto ridge = ridge_of(f)) {
    const auto [from, to] = ridge_line(f, frame, *ridge);
    list.line(from, to, {quiet, line_width, {1, 2}});
  }
  list.group_end();
}

void draw_points(DisplayList& list, const RooflineFigure& f, const Frame& frame) {
  list.group_begin("kernels", "Kernels");
  draw_edge_labels(list, labels_of(f, frame), frame.box);
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const RooflinePoint& p = f.points[i];
    const Point low = frame.at(p.intensity, p.low), high = frame.at(p.intensity, p.high);
    if (low.y - high.y > 0.5) list.line(low, high, {series_colour(i), line_width});
    draw_marker(list, frame.at(p.intensity, p.performance), i, marker_size, series_colour(i));
  }
  list.group_end();
}

}  // namespace

std::vector<PlacedPoint> roofline_places(const RooflineFigure& figure) {
  const Frame frame = frame_of(drawable(figure));
  std::vector<PlacedPoint> placed;
  for (std::size_t i = 0; i < figure.points.size(); ++i) {
    const RooflinePoint& p = figure.points[i];
    if (is_drawn(p)) placed.push_back({frame.at(p.intensity, p.performance), i});
  }
  return placed;
}

DisplayList draw_roofline(const RooflineFigure& figure) {
  const RooflineFigure f = drawable(figure);
  const Frame frame = frame_of(f);
  DisplayList list = begin_page(f.width, f.metadata, "Roofline");
  draw_frame(list, frame);
  draw_roofs(list, f, frame);
  draw_points(list, f, frame);
  const std::string unnamed = name_ceilings(list, f, frame);
  std::string caption = f.caption;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) caption += (caption.empty() ? "" : ". ") + text;
  };
  if (has_bars(f) && f.coverage > 0)
    add(fmt::format("Medians; vertical bars: {:.0f} % intervals", 100 * f.coverage));
  add(unnamed);
  if (!f.peaks.empty() && f.bandwidths.empty()) {
    add("The bandwidth of the memory was not measured: the roof has no slope");
  }
  finish_with_caption(list, caption, frame.box.bottom() + room_below(frame.x) + 4);
  return list;
}

}  // namespace conelab::figure
