#include "core/figure/heat_values.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/drawing/axes.h"
#include "core/drawing/font_metrics.h"
#include "core/drawing/style.h"

namespace conelab::figure {
namespace {

bool masked_at(const HeatmapPanel& p, std::size_t i) {
  return !p.masked.empty() && p.masked[i] != 0;
}

/// Returns whether a cell has a number: it is neither masked nor NaN.
bool counts(const HeatmapPanel& p, std::size_t i) {
  return !masked_at(p, i) && !std::isnan(p.values[i]);
}

void normalise_rows(HeatmapPanel& p) {
  for (std::size_t r = 0; r < p.rows; ++r) {
    double largest = 0;
    for (std::size_t c = 0; c < p.cols; ++c) {
      const std::size_t i = r * p.cols + c;
      if (counts(p, i) && std::isfinite(p.values[i])) {
        largest = std::max(largest, std::abs(p.values[i]));
      }
    }
    for (std::size_t c = 0; c < p.cols && largest > 0; ++c) p.values[r * p.cols + c] /= largest;
  }
}

/// Replaces values by their ranks; equal values share their mean rank. Of both signs, the rank is
/// that of the magnitude and keeps the sign, so that 0 stays 0.
void rank_values(HeatmapPanel& p) {
  const std::vector<double> with_signs = p.diverging ? p.values : std::vector<double>();
  for (double& value : p.values) value = p.diverging ? std::abs(value) : value;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    if (counts(p, i)) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p.values[a] < p.values[b]; });
  const double last = order.size() > 1 ? static_cast<double>(order.size() - 1) : 1;
  std::vector<double> ranks(p.values.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin; end < order.size() && p.values[order[end]] == p.values[order[begin]];) ++end;
    const double mean = static_cast<double>(begin + end - 1) / 2 / last;
    for (std::size_t k = begin; k < end; ++k) ranks[order[k]] = mean;
  }
  p.values = std::move(ranks);
  for (std::size_t i = 0; i < with_signs.size(); ++i) {
    p.values[i] = with_signs[i] == 0 ? 0 : std::copysign(p.values[i], with_signs[i]);
  }
}

void require_non_negative(const HeatmapPanel& p) {
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    if (counts(p, i) && p.values[i] < 0) {
      misuse("heatmap '{}': the log scale needs values ≥ 0 (found {})", p.title, p.values[i]);
    }
  }
}

struct Pooled {
  double value = 0;
  bool masked = true;
};

/// Returns the number of the block [r0, r1) x [c0, c1): the largest one, NaN if it has one. In a
/// diverging panel it is the one with the largest magnitude.
Pooled pool(const HeatmapPanel& p, std::size_t r0, std::size_t r1, std::size_t c0, std::size_t c1) {
  Pooled out;
  bool first = true;
  for (std::size_t r = r0; r < r1; ++r) {
    for (std::size_t c = c0; c < c1; ++c) {
      const std::size_t i = r * p.cols + c;
      if (masked_at(p, i)) continue;
      out.masked = false;
      if (std::isnan(p.values[i])) return {p.values[i], false};
      const double value = p.values[i];
      const bool larger = p.diverging ? std::abs(value) > std::abs(out.value) : value > out.value;
      if (first || larger) out.value = value;
      first = false;
    }
  }
  return out;
}

}  // namespace

HeatScale heat_scale_from_name(const std::string& name) {
  return static_cast<HeatScale>(
      index_of_name("scale", name, {std::begin(heat_scale_names), std::end(heat_scale_names)}));
}

std::string value_title(const HeatmapPanel& panel, const std::string& value_name) {
  if (panel.difference) return "difference of " + value_name + "s";
  return panel.diverging ? value_name + "s with signs" : value_name;
}

void check_panel(const HeatmapPanel& p) {
  const auto check = [&](const char* what, std::size_t found, std::size_t expected, bool optional) {
    if (found != expected && !(optional && found == 0)) {
      misuse("heatmap '{}' of {} x {}: {} {} (expected {})", p.title, p.rows, p.cols, found, what,
             expected);
    }
  };
  check("values", p.values.size(), p.rows * p.cols, false);
  check("mask cells", p.masked.size(), p.rows * p.cols, true);
  check("row tokens", p.row_tokens.size(), p.rows, true);
  check("column tokens", p.column_tokens.size(), p.cols, true);
}

void mark_signed(HeatmapPanel& weights) {
  for (std::size_t i = 0; i < weights.values.size() && !weights.diverging; ++i) {
    weights.diverging = counts(weights, i) && weights.values[i] < 0;
  }
}

void subtract(HeatmapPanel& panel, const HeatmapPanel& other) {
  for (std::size_t i = 0; i < panel.values.size(); ++i) panel.values[i] -= other.values[i];
  if (panel.masked.empty()) panel.masked.assign(other.masked.size(), 0);
  for (std::size_t i = 0; i < other.masked.size(); ++i) panel.masked[i] |= other.masked[i];
  panel.diverging = panel.difference = true;
}

HeatmapPanel pooled(const HeatmapPanel& panel, std::size_t down, std::size_t across) {
  if (down == 0 || across == 0)
    misuse("pooling by {} x {} cells (expected 1 or more)", down, across);
  HeatmapPanel out;
  out.title = panel.title;
  out.diverging = panel.diverging, out.difference = panel.difference;
  out.rows = (panel.rows + down - 1) / down, out.cols = (panel.cols + across - 1) / across;
  for (std::size_t r = 0; r < out.rows; ++r) {
    for (std::size_t c = 0; c < out.cols; ++c) {
      const Pooled cell = pool(panel, r * down, std::min(panel.rows, (r + 1) * down), c * across,
                               std::min(panel.cols, (c + 1) * across));
      out.values.push_back(cell.value);
      if (!panel.masked.empty()) out.masked.push_back(cell.masked);
    }
  }
  return out;
}

HeatmapPanel scaled(HeatmapPanel panel, HeatScale scale) {
  if (scale == HeatScale::log) require_non_negative(panel);
  if (scale == HeatScale::row_normalised) normalise_rows(panel);
  if (scale == HeatScale::rank) rank_values(panel);
  return panel;
}

void Limits::include(const Limits& other) {
  low = std::min(low, other.low), high = std::max(high, other.high);
}

Limits limits_of(const HeatmapPanel& p, HeatScale scale) {
  Limits limits;
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const double v = p.values[i];
    if (!counts(p, i) || !std::isfinite(v) || (scale == HeatScale::log && (v < 0 || is_zero(v)))) {
      continue;
    }
    limits.include({v, v});
  }
  if (limits.empty()) return limits;
  if (p.diverging) {
    const double reach = std::max(std::abs(limits.low), std::abs(limits.high));
    return {-reach, reach};
  }
  if (scale == HeatScale::rank) return {0, 1};
  // A map of weights starts at zero, so that its colours can be compared.
  if (scale != HeatScale::log && limits.low > 0) limits.low = 0;
  return limits;
}

bool limits_apply(const Limits& given, const HeatmapPanel& panel) {
  const bool around_zero = given.low < 0 && given.high > 0;
  return !given.empty() && !panel.difference && (!panel.diverging || around_zero);
}

bool is_zero(double value) { return std::abs(value) < std::numeric_limits<float>::min(); }

bool zero_is_special(const HeatmapPanel& p, HeatScale scale) {
  if (p.diverging || scale == HeatScale::rank) return false;
  bool positive = false;
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    if (counts(p, i) && p.values[i] < 0) return false;
    positive = positive || (counts(p, i) && !is_zero(p.values[i]));
  }
  return positive || scale == HeatScale::log;
}

double place_on_map(double value, const Limits& limits, HeatScale scale) {
  if (std::isnan(value)) return value;
  if (limits.empty() || limits.low == limits.high) return 0.5;
  if (scale == HeatScale::log) {
    return std::clamp(std::log(value / limits.low) / std::log(limits.high / limits.low), 0.0, 1.0);
  }
  // Halving first avoids overflow of the difference of two huge limits.
  const double span = limits.high / 2 - limits.low / 2;
  return std::clamp((value / 2 - limits.low / 2) / span, 0.0, 1.0);
}

HeatScale HeatLook::scale_of(const HeatmapPanel& panel) const {
  return panel.diverging && scale == HeatScale::log ? HeatScale::linear : scale;
}

ColourBar HeatLook::bar_of(const HeatmapPanel& panel) const {
  const HeatScale own = scale_of(panel);
  return {panel.diverging ? ColourMap::diverging : map, own,
          limits_apply(limits, panel) ? limits : limits_of(panel, own), ""};
}

void Specials::include(const Specials& other) {
  zero |= other.zero, masked |= other.masked, nan |= other.nan;
}

Specials specials_of(const HeatmapPanel& p, HeatScale scale) {
  Specials used;
  const bool zero = zero_is_special(p, scale);
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    if (masked_at(p, i))
      used.masked = true;
    else if (std::isnan(p.values[i]))
      used.nan = true;
    else if (zero && is_zero(p.values[i]))
      used.zero = true;
  }
  return used;
}

std::vector<std::uint8_t> colours_of(const HeatmapPanel& p, const Limits& limits, HeatScale scale,
                                     ColourMap map) {
  std::vector<std::uint8_t> rgba;
  rgba.reserve(4 * p.values.size());
  const bool zero = zero_is_special(p, scale);
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const Colour c = masked_at(p, i) ? masked_colour
                     : zero && is_zero(p.values[i])
                         ? zero_colour
                         : colour_at(map, place_on_map(p.values[i], limits, scale));
    rgba.insert(rgba.end(), {c.r, c.g, c.b, c.a});
  }
  return rgba;
}

namespace {

constexpr double thickness = 6, swatch = 6;

Axis bar_axis(const ColourBar& bar, double width) {
  const bool log = bar.scale == HeatScale::log && bar.limits.low > 0;
  Axis axis{log ? ScaleKind::log10 : ScaleKind::linear, bar.limits.low, bar.limits.high, {}, {}};
  const int most = std::clamp(static_cast<int>(width / 24), 2, 7);
  axis.ticks = log ? log_ticks(axis.low, axis.high, most) : linear_ticks(axis.low, axis.high, most);
  return axis;
}

void draw_bar_ticks(DisplayList& list, const Axis& axis, const Box& bar) {
  double free_from = -1e300;
  for (const Tick& t : axis.ticks) {
    const double x = bar.x + bar.width * axis.fraction(t.value);
    list.line({x, bar.bottom()}, {x, bar.bottom() + (t.major() ? 2.0 : 1.2)}, {ink, thin_line});
    const double half = text_width(t.label, small_size) / 2;
    if (!t.major() || x - half < free_from) continue;
    list.text({x, bar.bottom() + 3}, t.label,
              {.size = small_size, .anchor = Anchor::middle, .align = Align::top, .colour = ink});
    free_from = x + half + 2.5;
  }
}

struct Special {
  bool used;
  Colour colour;
  const char* name;
};

std::vector<Special> in_use(const Specials& used) {
  std::vector<Special> list = {{used.zero, zero_colour, "zero"},
                               {used.masked, masked_colour, "masked"},
                               {used.nan, nan_colour, "NaN"}};
  std::erase_if(list, [](const Special& s) { return !s.used; });
  return list;
}

double special_width(const Special& s) { return swatch + 2.5 + text_width(s.name, small_size) + 7; }

}  // namespace

void draw_colour_bar(DisplayList& list, const ColourBar& bar, const Box& box) {
  const TextStyle below = {
      .size = small_size, .anchor = Anchor::middle, .align = Align::bottom, .colour = ink};
  const Point title = {box.x + box.width / 2, box.bottom()};
  if (bar.limits.empty()) return list.text(title, bar.title + ": no values", below);
  const Box strip = {box.x, box.y, box.width, thickness};
  std::vector<std::uint8_t> rgba;
  for (int i = 0; i < 256; ++i) {
    const double at = bar.limits.low == bar.limits.high ? 0.5 : i / 255.0;
    const auto last = static_cast<double>(bar.colours.size()) - 1;
    const Colour c = bar.colours.empty() ? colour_at(bar.map, at)
                                         : bar.colours[static_cast<std::size_t>(at * last)];
    rgba.insert(rgba.end(), {c.r, c.g, c.b, c.a});
  }
  list.image(strip, 256, 1, std::move(rgba));
  list.rectangle(strip, Paint::stroked(ink, thin_line));
  draw_bar_ticks(list, bar_axis(bar, box.width), strip);
  list.text(title, elide(bar.title, small_size, box.width + 20), below);
}

double draw_specials(DisplayList& list, const Specials& used, Point at) {
  double x = at.x;
  for (const Special& s : in_use(used)) {
    list.rectangle({x, at.y, swatch, swatch}, {s.colour, {ink, thin_line, {}}});
    list.text({x + swatch + 2.5, at.y + swatch / 2}, s.name,
              {.size = small_size, .align = Align::middle, .colour = ink});
    x += special_width(s);
  }
  return x - at.x;
}

double specials_width(const Specials& used) {
  double width = 0;
  for (const Special& s : in_use(used)) width += special_width(s);
  return width;
}

}  // namespace conelab::figure
