// Figure `heatmap`: the matrices of several operators side by side.
//
// Each operator has one panel: queries down, keys across, with token labels on both axes. Colour
// bars are below: one for all panels if limits are shared, otherwise one per panel; differences
// have their own. Cells smaller than print can show, and matrices above 512 a side, are pooled to
// dots, on the screen too. A dot has the largest value of its block (in a difference the one of
// largest magnitude). A printer or viewer would average the cells instead and hide a single bright
// one. The caption mentions the pooling.
#pragma once

#include <string>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/drawing/style.h"
#include "core/figure/heat_values.h"

namespace conelab::figure {

struct HeatmapFigure : HeatLook {
  std::vector<HeatmapPanel> panels;
  std::size_t together = 1;  ///< How many successive panels belong together, in one row.
  std::string caption;       ///< For instance "MiniLM, layer 3, head 5".
  double width = double_column;
  Metadata metadata;
};

/// The largest side that is drawn cell by cell, and the smallest side of a cell (0.2 mm, in
/// points).
inline constexpr std::size_t largest_matrix = 512;
inline constexpr double smallest_dot = 0.2 / 25.4 * 72;

/// Throws misuse if the vectors of a panel do not match its shape, or for negative values on a log
/// scale. Empty panels, and figures without panels, are drawn as empty.
[[nodiscard]] DisplayList draw_heatmap(const HeatmapFigure& figure);

}  // namespace conelab::figure
