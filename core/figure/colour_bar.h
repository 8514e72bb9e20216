// A horizontal colour bar with ticks and a title, and swatches for what is no value on the map.
#pragma once

#include <string>

#include "core/figure/colour_map.h"
#include "core/figure/display_list.h"
#include "core/figure/heat_values.h"

namespace conelab::figure {

struct ColourBar {
  ColourMap map = ColourMap::sequential;
  HeatScale scale = HeatScale::linear;
  Limits limits;
  std::string title;  ///< Of the values: "attention weight".
};

inline constexpr double colour_bar_height = 23.5;

/// Draws into `box` (colour_bar_height tall): bar, ticks, title beneath. Empty limits draw a note
/// that there is no value.
void draw_colour_bar(DisplayList& list, const ColourBar& bar, const Box& box);

/// Swatches with names for the special colours in use, from `at` (their top left) to the right;
/// returns the width taken.
double draw_specials(DisplayList& list, const Specials& used, Point at);
[[nodiscard]] double specials_width(const Specials& used);

}  // namespace conelab::figure
