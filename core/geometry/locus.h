// The classical curves and surfaces of the half-space: geodesics, horospheres and balls, and signed
// distances from them.
//
//   geodesic a b        the semicircle about (a+b)/2, or the vertical line over a
//   signed distance     sinh δ = ((x−a)(x−b)+y²) / (y(b−a))          (d = 2; ends a, b)
//   horosphere at p     ‖z−p‖² = size·height; at ∞: height = size
//   ball (c, ρ)         Euclidean centre (c_:, c_d cosh ρ), radius c_d sinh ρ
// For points of other models, convert the points first; distances do not depend on the model.
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
/// `nearest_on_geodesic` returns the point of the geodesic that is nearest to x, and
/// `distance_to_geodesic` its distance from x (≥ 0). Both hold for any d.
[[nodiscard]] Vector nearest_on_geodesic(const Geodesic& g, const Vector& x);
[[nodiscard]] double distance_to_geodesic(const Geodesic& g, const Vector& x);

/// Returns the signed distance of (x, y) from the geodesic with ends a ≠ b, for d = 2. If a < b, it
/// is positive outside the semicircle; exchanging a and b changes the sign. For an infinite end,
/// sinh δ = (x−a)/y if b = ∞, and −(x−b)/y if a = ∞.
[[nodiscard]] double signed_distance_to_geodesic(double a, double b, double x, double y);

/// A horosphere: all z with ‖z−p‖² = size·height. About ∞ it is the plane height = size.
struct Horosphere {
  std::optional<Vector> centre;  ///< The boundary point p [d−1]; absent for ∞.
  double size = 1;
};
/// Returns the signed distance of x from the horosphere, positive outside the horoball:
/// log(‖z−p‖²/(size·height)), or log(size/height) about ∞.
[[nodiscard]] double signed_distance_to_horosphere(const Horosphere& h, const Vector& x);

/// A Euclidean ball. Hyperbolic balls have this shape in the half-space and in the Poincaré ball.
struct EuclideanBall {
  Vector centre;
  double radius = 0;
};
/// Returns the hyperbolic ball of this radius about the half-space point c.
[[nodiscard]] EuclideanBall ball_in_halfspace(const Vector& c, double radius);
/// Returns the hyperbolic ball of this radius ρ about the point c of the Poincaré ball: with m =
/// tanh(ρ/2), its centre is c(1−m²)/(1−m²‖c‖²) and its radius m(1−‖c‖²)/(1−m²‖c‖²).
[[nodiscard]] EuclideanBall ball_in_ball(const Vector& c, double radius);

}  // namespace conelab::geometry
