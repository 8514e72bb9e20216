#include "widgets/theme/on_ground.h"

#include <algorithm>

#include "widgets/theme/theme.h"

namespace conelab::desktop {
namespace {

using figure::Colour;

constexpr int most_of_grey = 12;  ///< Channels that differ by less are a grey.

Colour adapted(const Colour& c, const QColor& ground, const QColor& text) {
  if (c.a == 0) return c;
  const auto [low, high] = std::minmax({c.r, c.g, c.b});
  if (high - low > most_of_grey) {
    Colour lighter = figure_colour(QColor(c.r, c.g, c.b).lighter(125));
    lighter.a = c.a;
    return lighter;
  }
  const double grey = c.g / 255.0;
  const auto mix = [&](int from, int to) {
    return static_cast<std::uint8_t>(from + (to - from) * grey);
  };
  return {mix(text.red(), ground.red()), mix(text.green(), ground.green()),
          mix(text.blue(), ground.blue()), c.a};
}

}  // namespace

Colour figure_colour(const QColor& colour) {
  const auto channel = [](int value) { return static_cast<std::uint8_t>(value); };
  return {channel(colour.red()), channel(colour.green()), channel(colour.blue()),
          channel(colour.alpha())};
}

figure::DisplayList on_ground(figure::DisplayList list, const QPalette& palette) {
  if (!is_dark(palette)) return list;
  const QColor ground = canvas_ground(palette), text = palette.color(QPalette::WindowText);
  for (figure::Item& item : list.items) {
    if (auto* path = std::get_if<figure::PathItem>(&item)) {
      path->paint.fill = adapted(path->paint.fill, ground, text);
      path->paint.stroke.colour = adapted(path->paint.stroke.colour, ground, text);
    } else if (auto* run = std::get_if<figure::TextItem>(&item)) {
      run->colour = adapted(run->colour, ground, text);
    }
  }
  return list;
}

}  // namespace conelab::desktop
