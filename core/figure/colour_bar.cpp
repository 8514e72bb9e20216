#include "core/figure/colour_bar.h"

#include <algorithm>
#include <vector>

#include "core/figure/axes.h"
#include "core/figure/font_metrics.h"
#include "core/figure/style.h"

namespace conelab::figure {
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
