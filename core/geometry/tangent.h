// Exponential map, logarithm, parallel transport, geodesics and means of H^d.
//
// Points are half-space coordinates [d]. Tangent vectors [d] are given in the orthonormal frame at
// their foot, which is the coordinate frame scaled by the height: a coordinate vector w at p is w /
// p_d here (Coneheads eq. 9 holds in this frame only). Translations and dilations preserve this
// frame, so every formula reduces to the origin (0,…,0,1), where Exp(v) = sinh‖v‖·v/‖v‖ in the
// spatial coordinates of the hyperboloid.
#pragma once

#include <vector>

#include "core/geometry/model.h"

namespace conelab::geometry {

/// Returns the point that the geodesic from p with velocity v reaches in unit time.
[[nodiscard]] Vector exp_map(const Vector& p, const Vector& v);
/// Returns the velocity at p with which a geodesic reaches q in unit time. Its norm is the
/// distance.
[[nodiscard]] Vector log_map(const Vector& p, const Vector& q);
/// Returns the tangent vector v at p, transported along the geodesic to q. Since the half-space is
/// conformal, this is a rotation in the plane of the geodesic by the turn of its tangent.
[[nodiscard]] Vector parallel_transport(const Vector& p, const Vector& q, const Vector& v);

/// Returns the point at fraction t of the way from p to q. For t outside [0, 1] the geodesic is
/// continued.
[[nodiscard]] Vector along_geodesic(const Vector& p, const Vector& q, double t);
[[nodiscard]] Vector midpoint(const Vector& p, const Vector& q);

/// Returns the point that minimises Σ w_i d(x, p_i)². If `weights` is empty, every weight is 1. The
/// iteration starts from the Lorentz centroid and takes Newton-like steps with the bound d·coth d
/// of the curvature. It stops when the gradient is below 1e-14 of the spread or no longer shrinks.
/// Throws misuse if there are no points, if dimensions or counts differ, or if the weights are
/// negative or sum to 0.
[[nodiscard]] Vector frechet_mean(const std::vector<Vector>& points,
                                  const std::vector<double>& weights = {});

/// Returns the Möbius sum x ⊕ y in the Poincaré ball: the translation that maps 0 to x, applied to
/// y.
[[nodiscard]] Vector mobius_add(const Vector& x, const Vector& y);

}  // namespace conelab::geometry
