// Labels at the right edge of a plot, each at its line's end and none over another.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// A name, and lines of smaller text under it.
struct EdgeLabel {
  Point end;                      ///< Where the line ends, on the page.
  std::vector<std::string> name;  ///< In lines.
  std::vector<std::vector<TextRun>> notes = {};
  Colour colour;
  std::size_t marker = 0;

  [[nodiscard]] double height() const;
  [[nodiscard]] double width() const;  ///< With the marker before the name.
};

/// The whole name in lines of at most `width`, so that different names stay different: broken at
/// spaces, and within a word that is too wide.
[[nodiscard]] std::vector<std::string> name_lines(const std::string& name, double width);

/// Centres of intervals of these heights, as near the wanted centres as they can be (least squares)
/// without overlap and inside [top, bottom] where all fit; in the order of `wanted`. Pool-adjacent-
/// violators (Barlow & Brunk 1972). Where they do not fit, they keep apart and leave at the bottom.
[[nodiscard]] std::vector<double> spread(const std::vector<double>& wanted,
                                         const std::vector<double>& heights, double top,
                                         double bottom);

/// Draws the labels from `x` to the right between top and bottom, leaders from the lines' ends
/// where a label had to move. Returns the lowest point used.
double draw_edge_labels(DisplayList& list, const std::vector<EdgeLabel>& labels, double x,
                        double top, double bottom);

}  // namespace conelab::figure
