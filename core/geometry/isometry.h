// Isometries of H^d, in a form on the half-space that stays exact for any translation and scale.
//
// Every isometry of the half-space is one of
//     x ↦ b + λ A x                  (similarity: fixes ∞)
//     x ↦ b + λ A (x−a)/‖x−a‖²       (a ↦ ∞ ↦ b)
// with points a, b of the boundary R^{d−1}, λ > 0, and A orthogonal on R^{d−1}; A does not change
// the height. The inverse has the same form, so that no matrix with elements of size e^ρ is needed.
#pragma once

#include <optional>

#include "core/geometry/model.h"

namespace conelab::geometry {

struct Isometry {
  std::optional<Vector> pole;  ///< a [d−1], the boundary point mapped to ∞; absent if ∞ is fixed.
  double scale = 1;            ///< λ > 0.
  Matrix rotation;             ///< A [d−1 × d−1], orthogonal.
  Vector shift;                ///< b [d−1].

  /// Returns d.
  [[nodiscard]] Eigen::Index dimension() const { return shift.size() + 1; }
};

/// Returns the isometry that maps the interior point p to q (half-space coordinates) and fixes ∞;
/// it is composed of a translation and a dilation.
[[nodiscard]] Isometry carry(const Vector& p, const Vector& q);
[[nodiscard]] Isometry inverse(const Isometry& f);

/// Returns the image of a point, in the model of that point.
[[nodiscard]] ModelPoint apply(const Isometry& f, const ModelPoint& p);
/// Does the same for half-space coordinates [d]. Height 0, a boundary point, is allowed unless it
/// is the pole.
[[nodiscard]] Vector apply(const Isometry& f, const Vector& halfspace);

// Exponential map, logarithm and geodesics of H^d.
//
// Points are half-space coordinates [d]. Tangent vectors [d] are given in the orthonormal frame at
// their foot, which is the coordinate frame scaled by the height: a coordinate vector w at p is w /
// p_d here (Coneheads eq. 9 holds in this frame only). Translations and dilations preserve this
// frame, so every formula reduces to the origin (0,…,0,1), where Exp(v) = sinh‖v‖·v/‖v‖ in the
// spatial coordinates of the hyperboloid.

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
