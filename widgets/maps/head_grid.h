// Where the small maps of all heads stand: a block of rows an operator, as many heads in each row
// as make the maps largest.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::desktop {

struct HeadPlace {
  std::size_t operation = 0, head = 0;
  figure::Box cells;
  figure::Box label;  ///< Above the cells.
};

struct HeadGrid {
  std::vector<figure::Box> titles;  ///< One an operator.
  std::vector<HeadPlace> maps;
  double width = 0, height = 0;  ///< Of a map.
  /// The map at a point.
  [[nodiscard]] std::optional<std::size_t> at(figure::Point point) const;
};

/// `aspect`: how many times as wide as high a map is. Maps are 18 pixels high at least: where they
/// do not fit, the grid is higher than the canvas.
[[nodiscard]] HeadGrid arrange_heads(double width, double height, std::size_t operations,
                                     std::size_t heads, double aspect);

}  // namespace conelab::desktop
