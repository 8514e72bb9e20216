// Where the names of points stand: beside their points, over no other name and no point.
#pragma once

#include <optional>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::desktop {

struct NamedPoint {
  figure::Point at;
  double radius = 6;             ///< Of the mark, pixels.
  double width = 0, height = 0;  ///< Of the name.
};

/// One box a point, those that come first choose first; none where a name fits nowhere beside its
/// point within `area`, or the point is not there. `taken` is left free.
[[nodiscard]] std::vector<std::optional<figure::Box>> place_names(
    const std::vector<NamedPoint>& points, const figure::Box& area,
    std::vector<figure::Box> taken = {});

/// Boxes that share no inner point.
[[nodiscard]] bool apart(const figure::Box& a, const figure::Box& b);

}  // namespace conelab::desktop
