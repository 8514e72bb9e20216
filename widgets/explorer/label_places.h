// Positions of the names of points: next to their points, without overlapping names or points.
#pragma once

#include <optional>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::desktop {

struct NamedPoint {
  figure::Point at;
  double radius = 6;             ///< Radius of the mark, in pixels.
  double width = 0, height = 0;  ///< Size of the name, in pixels; width 0: it has none.
};

/// Returns one box per point, chosen in the order of the points. It is absent if the name fits
/// nowhere next to its point inside `area`, or if the point is outside. Boxes in `taken` stay free.
[[nodiscard]] std::vector<std::optional<figure::Box>> place_names(
    const std::vector<NamedPoint>& points, const figure::Box& area,
    const std::vector<figure::Box>& taken = {});

/// Returns whether two boxes share no inner point.
[[nodiscard]] bool disjoint(const figure::Box& a, const figure::Box& b);

}  // namespace conelab::desktop
