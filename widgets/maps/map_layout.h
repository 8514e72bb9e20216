// The positions of panels, labels, margins and colour bars of the attention maps on their canvas.
#pragma once

#include <cstddef>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::desktop {

using figure::Box;

/// The height of a title of one line, and what a second line adds.
inline constexpr double title_height = 22, title_line = 16;

/// The parts of one panel, in pixels of the canvas. Unless each has its own, panels of a row share
/// the row labels of the first, panels of a column the column labels of the first: those of the
/// others have no extent.
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
  double margin = 30;       ///< Space for each margin; 0: there are none.
  int title_lines = 1;      ///< Lines of the titles: 1 or 2.
  double histogram = 0;     ///< Height of the histogram above a colour bar.
  bool lists = false;       ///< Whether something is listed below a bar in an empty place.
  bool own_bars = false;    ///< One colour bar per panel instead of one for all.
  bool own_labels = false;  ///< Every panel has labels, because their tokens differ.
  /// Number of successive panels that belong together and are in one row.
  std::size_t together = 1;
  std::size_t least_columns = 1;  ///< At most the number of panels.
};

struct MapLayout {
  std::vector<PanelPlace> panels;
  Box shared_bar;  ///< Empty if panels have their own bars.
  Box rest;  ///< The part of an empty place of the grid below the bar; empty if there is none.
};

/// Divides the canvas among `count` panels. Rows and columns of panels are chosen so that the
/// cells, about `aspect` times as wide as high, have the largest area. A shared colour bar is below
/// the panels, or where the last row has no panel.
[[nodiscard]] MapLayout arrange_panels(double width, double height, std::size_t count,
                                       double aspect, const LabelSpace& space);

/// Maps may be so much smaller than is asked for where all of them are seen then.
constexpr double nearly = 0.85;

/// Returns the height of a canvas of this width whose maps are at least `least` pixels high, or as
/// high as the width allows. Panels stand side by side where they are nearly that large.
[[nodiscard]] double least_height(double width, std::size_t count, double aspect,
                                  const LabelSpace& space, double least);

}  // namespace conelab::desktop
