// Exponential map, logarithm and geodesics of H^d.
//
// Points are half-space coordinates [d]. Tangent vectors [d] are given in the orthonormal frame at
// their foot, which is the coordinate frame scaled by the height: a coordinate vector w at p is w /
// p_d here (Coneheads eq. 9 holds in this frame only). Translations and dilations preserve this
// frame, so every formula reduces to the origin (0,…,0,1), where Exp(v) = sinh‖v‖·v/‖v‖ in the
// spatial coordinates of the hyperboloid.
#pragma once

#include "core/geometry/model.h"

namespace conelab::geometry {

/// Returns the point that the geodesic from p with velocity v reaches in unit time.
[[nodiscard]] Vector exp_map(const Vector& p, const Vector& v);
/// Returns the velocity at p with which a geodesic reaches q in unit time. Its norm is the
/// distance.
[[nodiscard]] Vector log_map(const Vector& p, const Vector& q);

/// Returns the point at fraction t of the way from p to q. For t outside [0, 1] the geodesic is
/// continued.
[[nodiscard]] Vector along_geodesic(const Vector& p, const Vector& q, double t);
[[nodiscard]] Vector midpoint(const Vector& p, const Vector& q);

}  // namespace conelab::geometry
