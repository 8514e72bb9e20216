// A horizontal colour bar with ticks and a title, and swatches for the special colours.
#pragma once

#include <string>
#include <vector>

#include "core/figure/colour_map.h"
#include "core/figure/display_list.h"
#include "core/figure/heat_values.h"

namespace conelab::figure {

struct ColourBar {
  ColourMap map = ColourMap::sequential;
  HeatScale scale = HeatScale::linear;
  Limits limits;
  std::string title;  ///< The name of the values, such as "attention weight".
  /// The colours from the lowest value to the highest, if they are not those of the map.
  std::vector<Colour> colours = {};
};

inline constexpr double colour_bar_height = 23.5;

/// Draws bar, ticks and, below them, the title into `box`, which is colour_bar_height high. For
/// empty limits it draws a note that there is no value.
void draw_colour_bar(DisplayList& list, const ColourBar& bar, const Box& box);

/// Draws swatches with names for the special colours in use, from `at` (top left) to the right.
/// Returns the width of the drawing.
double draw_specials(DisplayList& list, const Specials& used, Point at);
/// Returns that width without drawing.
[[nodiscard]] double specials_width(const Specials& used);

}  // namespace conelab::figure
