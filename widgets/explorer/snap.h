// Where a dragged point snaps to: another point's x or height, else round numbers.
#pragma once

#include <string>

#include "widgets/explorer/cone_scene.h"

namespace conelab::desktop {

/// `wanted` moved onto the nearest of: x of the other points, height of the other points, multiples
/// of the round number that is 8 to 20 pixels at that place. `name` is u, v or source.
[[nodiscard]] PlanePoint snapped(const ConeChoice& choice, const std::string& name,
                                 const PlanePoint& wanted, const PlaneFrame& frame);

}  // namespace conelab::desktop
