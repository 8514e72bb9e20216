// Figure `heatmap`: several operators side by side on one trace.
//
// One panel an operator, queries down, keys across, token labels on both axes, colour bars below:
// one for all panels where limits are shared, else one a panel; differences have bars of their own.
// Cells that would be smaller than what print can show are pooled to dots, as on the screen: a dot
// is the largest value of its block, in a difference that of largest magnitude, since a printer or
// a viewer that averaged them would lose a row's one bright cell. So are matrices above 512 a side.
// The caption says so.
#pragma once

#include <string>
#include <vector>

#include "core/figure/colour_map.h"
#include "core/figure/display_list.h"
#include "core/figure/heat_values.h"
#include "core/figure/style.h"

namespace conelab::figure {

struct HeatmapFigure {
  std::vector<HeatmapPanel> panels;
  HeatScale scale = HeatScale::linear;
  bool shared_limits = true;
  Limits limits;  ///< Fixed limits for all panels but differences; empty: from the data.
  ColourMap map = ColourMap::sequential;  ///< Of panels that are not differences.
  std::string value_name = "attention weight";
  std::string caption;  ///< "MiniLM, layer 3, head 5".
  double width = double_column;
  Metadata metadata;
};

/// The largest side that is drawn cell by cell, and the least side of a cell: 0.2 mm, in points.
inline constexpr std::size_t largest_matrix = 512;
inline constexpr double smallest_dot = 0.2 / 25.4 * 72;

/// Throws misuse when a panel's vectors do not fit its shape, or for log of negative values. Empty
/// panels and figures without panels are drawn as such.
[[nodiscard]] DisplayList draw_heatmap(const HeatmapFigure& figure);

}  // namespace conelab::figure
