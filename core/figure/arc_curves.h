// Elliptical arcs as cubic Bézier curves, for sinks without arcs (PDF, QPainter).
//
// A cubic with control points at distance (4/3) tan(θ/4) along the tangents stays within
// about 4/27 · (θ/4)^6 · 4 of the unit circle, so the number of pieces follows from the radius.
#pragma once

#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// The pieces after the arc's start; each within `tolerance` points of the exact arc.
[[nodiscard]] std::vector<CubicTo> arc_curves(const ArcTo& arc, double tolerance = 0.002);

}  // namespace conelab::figure
