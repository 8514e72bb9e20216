// The positions of panels, labels, margins and colour bars of the attention maps, and of the small
// maps of all heads, on their canvases.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::desktop {

using figure::Box;

/// The parts of one panel, in pixels of the canvas. Panels of a row share the row labels of the
/// first, panels of a column the column labels of the first: those of the others have no extent.
struct PanelPlace {
  Box title;
  Box cells;          ///< The matrix.
  Box row_labels;     ///< Left of the cells.
  Box column_labels;  ///< Above the cells.
  Box row_margin;     ///< Right of the cells, for the entropy or a profile.
  Box column_margin;  ///< Below the cells, for column sums or a profile.
  Box colour_bar;     ///< Below everything, with its histogram.
};

/// The space that labels need, in pixels, measured by the caller, who knows the fonts.
struct LabelSpace {
  double row = 40, column = 40;
  double margin = 30;     ///< Of each margin; 0: there are none.
  double histogram = 0;   ///< Above a colour bar.
  bool own_bars = false;  ///< One colour bar per panel instead of one for all.
};

struct MapLayout {
  std::vector<PanelPlace> panels;
  Box shared_bar;  ///< Empty if panels have their own bars.
};

/// Divides the canvas among `count` panels. Rows and columns of panels are chosen so that the
/// cells, about `aspect` times as wide as high, have the largest area. A shared colour bar is below
/// the panels, or where the last row has no panel.
[[nodiscard]] MapLayout arrange_panels(double width, double height, std::size_t count,
                                       double aspect, const LabelSpace& space);

/// Returns the height of a canvas of this width whose maps are at least `least` pixels high, or as
/// high as the width allows.
[[nodiscard]] double least_height(double width, std::size_t count, double aspect,
                                  const LabelSpace& space, double least);

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
