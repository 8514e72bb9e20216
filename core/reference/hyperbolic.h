// Distances of curvature -1.
//
//   half-space    d = 2 asinh( |u - v| / (2 sqrt(u_d v_d)) )
//   hyperboloid   d = 2 asinh( |x - y|_M / 2 ),  |x|_M^2 = |x_s|^2 - x_t^2
//   logit = -beta d - c
//
// Gulcehre et al., eq. 2 (hyperboloid); Coneheads' baseline (half-space). The Minkowski norm of a
// difference cancels like e^{2r}: in this number type it is good to 1e-12 up to about r = 8.
#pragma once

#include "core/reference/real.h"

namespace conelab::reference {

[[nodiscard]] Real half_space_distance(const Point& u, const Point& v);
[[nodiscard]] Real hyperboloid_distance(const Point& x, const Point& y);

}  // namespace conelab::reference
