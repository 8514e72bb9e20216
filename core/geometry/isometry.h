// Isometries of H^d, written on the half-space, where pan and zoom are exact at any depth.
//
// Every isometry of the half-space is one of
//     x ↦ b + λ A x                  (similarity: fixes ∞)
//     x ↦ b + λ A (x−a)/‖x−a‖²       (a ↦ ∞ ↦ b)
// with a, b points of the boundary R^{d−1}, λ > 0 and A orthogonal on R^{d−1}; A acts as the
// identity on the height. The form is closed under composition and inversion (`compose`), so no
// matrix of size e^ρ is ever built.
#pragma once

#include <optional>

#include "core/geometry/model.h"

namespace conelab::geometry {

struct Isometry {
  std::optional<Vector> pole;  ///< a [d−1], the boundary point sent to ∞; none: ∞ stays.
  double scale = 1;            ///< λ > 0.
  Matrix rotation;             ///< A [d−1 × d−1], orthogonal.
  Vector shift;                ///< b [d−1].

  /// d of H^d.
  [[nodiscard]] Eigen::Index dimension() const { return shift.size() + 1; }
};

[[nodiscard]] Isometry identity(Eigen::Index dimension);
/// x_: ↦ x_: + b.
[[nodiscard]] Isometry translation(const Vector& b);
/// x ↦ λ x; misuse unless λ > 0.
[[nodiscard]] Isometry dilation(Eigen::Index dimension, double factor);
/// Orthogonal A [d−1 × d−1] on the boundary; misuse when A is not orthogonal to 1e-9.
[[nodiscard]] Isometry boundary_rotation(const Matrix& orthogonal);
/// Inversion in the hemisphere about boundary point `centre` [d−1]: reverses orientation.
[[nodiscard]] Isometry inversion(const Vector& centre, double radius);
/// Orthogonal Q [d × d] of the ball, as seen from the interior point `p` (half-space coordinates).
[[nodiscard]] Isometry rotation_about(const Vector& p, const Matrix& orthogonal);

/// Carries interior point p to q (half-space) by a translation and a dilation: ∞ stays.
[[nodiscard]] Isometry carry(const Vector& p, const Vector& q);
/// Carries boundary point a [d−1] to ∞.
[[nodiscard]] Isometry carry_to_infinity(const Vector& a);
/// Carries the geodesic with boundary ends a, b [d−1] to the axis: a to 0 and b to ∞.
[[nodiscard]] Isometry carry_to_axis(const Vector& a, const Vector& b);

/// first, then second.
[[nodiscard]] Isometry compose(const Isometry& second, const Isometry& first);
[[nodiscard]] Isometry inverse(const Isometry& f);

/// The image of a point, in the model of the point.
[[nodiscard]] ModelPoint apply(const Isometry& f, const ModelPoint& p);
/// For half-space coordinates [d]; height 0 is allowed (a boundary point other than the pole).
[[nodiscard]] Vector apply(const Isometry& f, const Vector& halfspace);

}  // namespace conelab::geometry
