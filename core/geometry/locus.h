// Geodesics of the half-space: the semicircle about (a+b)/2 with the ends a, b on the boundary, or
// the vertical line over a. For points of other models, convert the points first.
#pragma once

#include <optional>

#include "core/geometry/model.h"

namespace conelab::geometry {

/// A complete geodesic, given by its ends on the boundary [d−1]. An absent end is ∞.
struct Geodesic {
  std::optional<Vector> from, to;
};

/// Returns the oriented geodesic from u through v (half-space [d]). Throws misuse if u = v.
[[nodiscard]] Geodesic geodesic_through(const Vector& u, const Vector& v);

}  // namespace conelab::geometry
