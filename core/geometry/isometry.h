// Isometries of H^d, in a form on the half-space that stays exact for any translation and scale.
//
// Every isometry of the half-space is one of
//     x ↦ b + λ A x                  (similarity: fixes ∞)
//     x ↦ b + λ A (x−a)/‖x−a‖²       (a ↦ ∞ ↦ b)
// with points a, b of the boundary R^{d−1}, λ > 0, and A orthogonal on R^{d−1}; A does not change
// the height. This form is closed under composition and inversion (`compose`), so that no matrix
// with elements of size e^ρ is needed.
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

/// Returns the identity of H^dimension.
[[nodiscard]] Isometry identity(Eigen::Index dimension);
/// Returns the translation x_: ↦ x_: + b, b [d−1].
[[nodiscard]] Isometry translation(const Vector& b);
/// Returns the dilation x ↦ λ x. Throws misuse unless λ > 0.
[[nodiscard]] Isometry dilation(Eigen::Index dimension, double factor);
/// Returns the rotation of the boundary by A [d−1 × d−1]. Throws misuse unless A is orthogonal to
/// 1e-9.
[[nodiscard]] Isometry boundary_rotation(const Matrix& orthogonal);
/// Returns the inversion in the hemisphere of this radius about the boundary point `centre` [d−1].
/// It reverses the orientation.
[[nodiscard]] Isometry inversion(const Vector& centre, double radius);
/// Returns the rotation Q [d × d] about the interior point p (half-space coordinates [d]); Q acts
/// as on a ball with centre p.
[[nodiscard]] Isometry rotation_about(const Vector& p, const Matrix& orthogonal);

/// Returns the isometry that maps the interior point p to q (half-space coordinates) and fixes ∞;
/// it is composed of a translation and a dilation.
[[nodiscard]] Isometry carry(const Vector& p, const Vector& q);
/// Returns an isometry that maps the boundary point a [d−1] to ∞.
[[nodiscard]] Isometry carry_to_infinity(const Vector& a);

/// Returns the composition that applies `first` and then `second`.
[[nodiscard]] Isometry compose(const Isometry& second, const Isometry& first);
[[nodiscard]] Isometry inverse(const Isometry& f);

/// Returns the image of a point, in the model of that point.
[[nodiscard]] ModelPoint apply(const Isometry& f, const ModelPoint& p);
/// Does the same for half-space coordinates [d]. Height 0, a boundary point, is allowed unless it
/// is the pole.
[[nodiscard]] Vector apply(const Isometry& f, const Vector& halfspace);

}  // namespace conelab::geometry
