// Exp, Log, parallel transport, geodesic interpolation, midpoint and Fréchet mean of H^d.
//
// Points are half-space coordinates. Tangent vectors are in the orthonormal frame at their foot,
// which is the coordinate frame scaled by the height: a coordinate vector w at p is w / p_d here
// (Coneheads eq. 9 holds in this frame only). The frame is carried onto itself by translations and
// dilations, so everything reduces to the origin (0,…,0,1), where Exp(v) = sinh‖v‖·v/‖v‖ in the
// spatial coordinates of the hyperboloid.
#pragma once

#include <vector>

#include "core/geometry/model.h"

namespace conelab::geometry {

/// The end of the geodesic that leaves p [d] with velocity v [d], after unit time.
[[nodiscard]] Vector exp_map(const Vector& p, const Vector& v);
/// The velocity at p that reaches q in unit time; its norm is the distance.
[[nodiscard]] Vector log_map(const Vector& p, const Vector& q);
/// v at p carried along the geodesic to q: a rotation in the plane of the geodesic by the turn of
/// its tangent, since the half-space is conformal.
[[nodiscard]] Vector parallel_transport(const Vector& p, const Vector& q, const Vector& v);

/// The point at fraction t of the way from p to q (any real t: the geodesic continues).
[[nodiscard]] Vector along_geodesic(const Vector& p, const Vector& q, double t);
[[nodiscard]] Vector midpoint(const Vector& p, const Vector& q);

/// The point that minimises Σ w_i d(x, p_i)². Unit weights when `weights` is empty. Newton-like
/// steps with the exact bound d·coth d of the curvature, from the Lorentz centroid; stops when
/// the gradient is below 1e-14 of the spread or no longer shrinks.
/// Misuse: no points, dimensions or counts that differ, weights that are negative or sum to 0.
[[nodiscard]] Vector frechet_mean(const std::vector<Vector>& points,
                                  const std::vector<double>& weights = {});

/// Möbius addition x ⊕ y on the Poincaré ball: the translation that carries 0 to x, applied to y.
[[nodiscard]] Vector mobius_add(const Vector& x, const Vector& y);

}  // namespace conelab::geometry
