#include "core/drawing/colour_map.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/names.h"

namespace conelab::figure {
namespace {

/// A colour in OKLab: lightness L in [0, 1] and the two opponent axes.
struct OkLab {
  double L, a, b;
};

struct Rgb {
  double r, g, b;  ///< Linear values, without gamma.
};

/// Converts with the inverse matrices of Ottosson.
Rgb to_linear(const OkLab& c) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(c.L + 0.3963377774 * c.a + 0.2158037573 * c.b);
  const double m = cube(c.L - 0.1055613458 * c.a - 0.0638541728 * c.b);
  const double s = cube(c.L - 0.0894841775 * c.a - 1.2914855480 * c.b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool shown(const Rgb& c) {
  const auto inside = [](double x) { return x >= -1e-9 && x <= 1 + 1e-9; };
  return inside(c.r) && inside(c.g) && inside(c.b);
}

std::uint8_t encoded(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  const double v = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * v));
}

/// Returns a point of a curve in OKLCh as a colour. The curves below lie inside sRGB, because
/// clipping would create visible bands; only rounding errors at the ends are clamped here.
OkLab oklch(double lightness, double chroma, double hue_degrees) {
  const double hue = hue_degrees * std::numbers::pi / 180;
  const auto at = [&](double c) { return OkLab{lightness, c * std::cos(hue), c * std::sin(hue)}; };
  if (shown(to_linear(at(chroma)))) return at(chroma);
  double low = 0, high = chroma;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (shown(to_linear(at(middle))) ? low : high) = middle;
  }
  return at(low);
}

/// Returns a colour of the sequential map. It is pale at the low end, because most weights of an
/// attention map are small.
OkLab sequential_curve(double t) {
  const double rise = std::sin(std::min(t / 0.3, 1.0) * std::numbers::pi / 2);
  return oklch(0.968 - 0.718 * t, 0.092 * (0.42 + 0.58 * rise), 105 + 185 * t);
}

OkLab diverging_half(double t, double hue, double bend) {
  return oklch(0.965 - 0.60 * t, 0.115 * std::sin(2.07 * t), hue + bend * t);
}

/// Does the same for dark pages.
OkLab dark_diverging_half(double t, double hue, double bend) {
  return oklch(0.22 + 0.64 * t, 0.13 * std::sin(2.07 * t), hue + bend * t);
}

OkLab curve(ColourMap map, double t) {
  switch (map) {
    case ColourMap::sequential:
      return sequential_curve(t);
    case ColourMap::dark:
      return sequential_curve(1 - t);
    case ColourMap::diverging:
      return t < 0.5 ? diverging_half(1 - 2 * t, 238, 22) : diverging_half(2 * t - 1, 78, -32);
    case ColourMap::dark_diverging:
      return t < 0.5 ? dark_diverging_half(1 - 2 * t, 255, -15)
                     : dark_diverging_half(2 * t - 1, 55, 25);
  }
  return {};
}

double distance(const OkLab& p, const OkLab& q) {
  return std::hypot(p.L - q.L, p.a - q.a, p.b - q.b);
}

// With the special colours a map has fewer than 256 colours, so that images can be stored with a
// palette.
constexpr std::size_t samples = 1025, steps = 251;
using Table = std::array<Colour, steps>;

/// Returns the parameter of the curve at each of `steps` points of equal perceived distance in
/// [begin, end].
std::vector<double> even_walk(ColourMap map, double begin, double end, std::size_t count) {
  std::vector<double> length(samples, 0), parameter(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    parameter[i] = begin + (end - begin) * static_cast<double>(i) / (samples - 1);
    if (i > 0)
      length[i] = length[i - 1] + distance(curve(map, parameter[i - 1]), curve(map, parameter[i]));
  }
  std::vector<double> walk;
  for (std::size_t k = 0, i = 0; k < count; ++k) {
    const double goal = length.back() * static_cast<double>(k) / static_cast<double>(count - 1);
    while (i + 2 < samples && length[i + 1] < goal) ++i;
    const double part = (goal - length[i]) / (length[i + 1] - length[i]);
    walk.push_back(parameter[i] + part * (parameter[i + 1] - parameter[i]));
  }
  return walk;
}

Colour to_colour(const OkLab& lab) {
  const Rgb c = to_linear(lab);
  return {encoded(c.r), encoded(c.g), encoded(c.b), 255};
}

/// Diverging maps parametrise their halves separately, so that zero stays in the middle.
Table tabulate(ColourMap map) {
  Table table;
  std::vector<double> walk;
  if (map == ColourMap::diverging || map == ColourMap::dark_diverging) {
    walk = even_walk(map, 0, 0.5, steps / 2 + 1);
    const auto second = even_walk(map, 0.5, 1, steps / 2 + 1);
    walk.insert(walk.end(), second.begin() + 1, second.end());
  } else {
    walk = even_walk(map, 0, 1, steps);
  }
  for (std::size_t k = 0; k < steps; ++k) table[k] = to_colour(curve(map, walk[k]));
  return table;
}

}  // namespace

const std::vector<ColourMapInfo>& colour_maps() {
  static const std::vector<ColourMapInfo> maps = {
      {ColourMap::sequential, "sequential", "pale yellow to dark violet, for white pages"},
      {ColourMap::dark, "dark", "dark violet to pale yellow, for dark pages"},
      {ColourMap::diverging, "diverging", "blue over near white to brown, zero in the middle"},
      {ColourMap::dark_diverging, "dark_diverging",
       "pale blue over near black to pale orange, for dark pages"}};
  return maps;
}

ColourMap colour_map_from_name(const std::string& name) {
  return row_named("colour map", colour_maps(), name).map;
}

Colour colour_at(ColourMap map, double t) {
  static const std::array<Table, 4> tables = {
      tabulate(ColourMap::sequential), tabulate(ColourMap::dark), tabulate(ColourMap::diverging),
      tabulate(ColourMap::dark_diverging)};
  if (std::isnan(t)) return nan_colour;
  const double place = std::clamp(t, 0.0, 1.0) * (steps - 1);
  return tables[static_cast<std::size_t>(map)][static_cast<std::size_t>(std::lround(place))];
}

}  // namespace conelab::figure
