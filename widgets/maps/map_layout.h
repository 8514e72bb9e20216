// Where panels, labels, margins and colour bars of the attention maps stand on the canvas.
#pragma once

#include <cstddef>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::desktop {

using figure::Box;

/// One panel's parts, in pixels of the canvas.
struct PanelPlace {
  Box title;
  Box cells;          ///< The matrix itself.
  Box row_labels;     ///< Left of the cells.
  Box column_labels;  ///< Above the cells.
  Box row_margin;     ///< Right of the cells: entropy.
  Box column_margin;  ///< Below the cells: column sums.
  Box colour_bar;     ///< Below all.
};

/// Room that labels need, as measured by whoever knows the fonts.
struct LabelRoom {
  double row = 40, column = 40;
  bool margins = true;
  bool own_bars = false;  ///< One colour bar a panel rather than one for all.
};

struct MapLayout {
  std::vector<PanelPlace> panels;
  Box shared_bar;  ///< Empty with own bars.
};

/// Divides the canvas among `count` panels, in the rows and columns that make the cells' areas
/// (about `aspect` times as wide as high) largest.
[[nodiscard]] MapLayout arrange_panels(double width, double height, std::size_t count,
                                       double aspect, const LabelRoom& room);

}  // namespace conelab::desktop
