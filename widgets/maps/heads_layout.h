// The positions of the small maps of all heads, their labels and the titles of their rows.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::desktop {

/// The position of one small map, in pixels.
struct HeadPlace {
  std::size_t row = 0, head = 0;  ///< In a list: 0, and the position in the list.
  figure::Box cells;
  figure::Box label;  ///< Above the cells or right of them.
};

/// The positions of all small maps.
struct HeadGrid {
  std::vector<figure::Box> titles;   ///< [row]; empty for a list.
  std::vector<figure::Box> columns;  ///< [head] Above the first row, if every row is one line.
  std::vector<HeadPlace> maps;
  double width = 0, height = 0;  ///< Size of a map.
  double bottom = 0;             ///< Where the grid ends.
  /// Returns the index of the map at a point; absent if there is none.
  [[nodiscard]] std::optional<std::size_t> at(figure::Point point) const;
};

/// The widths that texts need, in pixels, measured by the caller, who knows the fonts.
struct HeadSpace {
  double title = 60;  ///< The widest title of a row.
  double score = 28;  ///< The widest score.
  double name = 60;   ///< The widest name of a head in a list.
};

/// Arranges rows with `heads` [row] heads each, so that the maps are largest: either each row is
/// one line with its title at the left and the heads' numbers on top, or a block of several lines
/// below its title. `aspect` is the width of a map divided by its height. Maps are at least 18
/// pixels high; if they do not fit, the grid is higher than the canvas.
[[nodiscard]] HeadGrid arrange_heads(double width, double height,
                                     const std::vector<std::size_t>& heads, double aspect,
                                     const HeadSpace& space);

/// Arranges `count` heads line by line, each below its name and its score. The maps are at least as
/// wide as a name.
[[nodiscard]] HeadGrid arrange_head_list(double width, double height, std::size_t count,
                                         double aspect, const HeadSpace& space);

}  // namespace conelab::desktop
