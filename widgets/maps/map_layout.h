// The positions of panels, labels, margins and colour bars of the attention maps, and of the small
// maps of all heads, on their canvases.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::desktop {

using figure::Box;

/// The parts of one panel, in pixels of the canvas.
struct PanelPlace {
  Box title;
  Box cells;          ///< The matrix.
  Box row_labels;     ///< Left of the cells.
  Box column_labels;  ///< Above the cells.
  Box row_margin;     ///< Right of the cells, for the entropy.
  Box column_margin;  ///< Below the cells, for column sums.
  Box colour_bar;     ///< Below everything.
};

/// The space that labels need, in pixels, measured by the caller, who knows the fonts.
struct LabelSpace {
  double row = 40, column = 40;
  bool margins = true;
  bool own_bars = false;  ///< One colour bar per panel instead of one for all.
};

struct MapLayout {
  std::vector<PanelPlace> panels;
  Box shared_bar;  ///< Empty if panels have their own bars.
};

/// Divides the canvas among `count` panels. Rows and columns of panels are chosen so that the
/// cells, about `aspect` times as wide as high, have the largest area.
[[nodiscard]] MapLayout arrange_panels(double width, double height, std::size_t count,
                                       double aspect, const LabelSpace& space);

/// The position of the small map of one head of one operator, in pixels.
struct HeadPlace {
  std::size_t operation = 0, head = 0;
  figure::Box cells;
  figure::Box label;  ///< Above the cells.
};

/// The positions of all small maps: a block of rows per operator, with as many heads in a row as
/// make the maps largest.
struct HeadGrid {
  std::vector<figure::Box> titles;  ///< One per operator.
  std::vector<HeadPlace> maps;
  double width = 0, height = 0;  ///< Size of a map.
  /// Returns the index of the map at a point; absent if there is none.
  [[nodiscard]] std::optional<std::size_t> at(figure::Point point) const;
};

/// Computes the positions. `aspect` is the width of a map divided by its height. Maps are at least
/// 18 pixels high; if they do not fit, the grid is higher than the canvas.
[[nodiscard]] HeadGrid arrange_heads(double width, double height, std::size_t operations,
                                     std::size_t heads, double aspect);

}  // namespace conelab::desktop
