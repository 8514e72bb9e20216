// Labels at the right edge of a plot, each next to the end of its line, without overlaps.
#pragma once

#include <string>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// A label: a name, and lines of smaller text below it.
struct EdgeLabel {
  Point end;                      ///< The end of the line, on the page.
  std::vector<std::string> name;  ///< The name in lines, see `name_lines`.
  std::vector<std::vector<TextRun>> notes = {};
  Colour colour;
  std::size_t marker = 0;

  [[nodiscard]] double height() const;
  [[nodiscard]] double width() const;  ///< Includes the marker before the name.
};

/// Breaks a name into lines of at most `width` points: at spaces, and inside a word that is too
/// wide. Nothing is cut, so that different names stay different.
[[nodiscard]] std::vector<std::string> name_lines(const std::string& name, double width);

/// Returns the width that labels take to the right of a plot, with their leaders.
[[nodiscard]] double edge_room(const std::vector<EdgeLabel>& labels);
/// Returns the height of labels below each other.
[[nodiscard]] double edge_height(const std::vector<EdgeLabel>& labels);

/// Returns centres of intervals with these heights that do not overlap and minimise the squared
/// distances from the wanted centres, in the order of `wanted` (pool-adjacent-violators, Barlow &
/// Brunk 1972). The intervals lie inside [top, bottom] if all fit; otherwise they extend below
/// `bottom`.
[[nodiscard]] std::vector<double> spread(const std::vector<double>& wanted,
                                         const std::vector<double>& heights, double top,
                                         double bottom);

/// Draws the labels to the right of a plot, each with a leader from the end of its line, dotted
/// inside the plot.
void draw_edge_labels(DisplayList& list, const std::vector<EdgeLabel>& labels, const Box& plot);

}  // namespace conelab::figure
