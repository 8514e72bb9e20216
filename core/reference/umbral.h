// Umbral cones with the light at infinity and objects of hyperbolic radius r.
//
//   logit = -gamma H,   H = max(u_d, v_d, D / (2 sinh r) + (u_d + v_d) / 2),   D = |u_: - v_:|
//
// Coneheads eq. 8. convention = reference (github.com/tsengalb99/coneheads, umbral.py) has the same
// formula behind another map, (x_: e^{x_d/d}, e^{x_d/d}) with d the full dimension; no epsilon. Its
// published numbers carry a sinh r rounded to float32, which is not imitated.
#pragma once

#include "core/reference/real.h"

namespace conelab::reference {

/// H; `r` > 0.
[[nodiscard]] Real umbral_height(const Point& u, const Point& v, Real r);

}  // namespace conelab::reference
