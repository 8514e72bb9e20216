// The classical curves and surfaces of the half-space: geodesics, hyperplanes, hypercycles,
// horospheres and balls, with signed distances to them.
//
//   geodesic a b        semicircle about (a+b)/2, or the vertical over a
//   signed distance     sinh δ = ((x−a)(x−b)+y²) / (y(b−a))          (d = 2; ends a, b)
//   horosphere at p     ‖z−p‖² = size·height, at ∞ height = size
//   ball (c, ρ)         Euclidean centre (c_:, c_d cosh ρ), radius c_d sinh ρ
// Other models: carry the point over, the distances are the same.
#pragma once

#include <optional>

#include "core/geometry/model.h"

namespace conelab::geometry {

/// A full geodesic by its boundary ends [d−1]; an end that is absent is ∞.
struct Geodesic {
  std::optional<Vector> from, to;
};

/// The geodesic from u through v (half-space [d]); oriented. Misuse when u = v.
[[nodiscard]] Geodesic geodesic_through(const Vector& u, const Vector& v);
/// The point of the geodesic whose foot is nearest to x, and the distance to it (≥ 0), any d.
[[nodiscard]] Vector nearest_on_geodesic(const Geodesic& g, const Vector& x);
[[nodiscard]] double distance_to_geodesic(const Geodesic& g, const Vector& x);

/// d = 2, ends a ≠ b: positive outside the semicircle when a < b (swap for the other sign); with an
/// infinite end: sinh δ = (x−a)/y for b = ∞, −(x−b)/y for a = ∞.
[[nodiscard]] double signed_distance_to_geodesic(double a, double b, double x, double y);

/// A horosphere: all points with ‖z−p‖² = size·height; about ∞: height = size.
struct Horosphere {
  std::optional<Vector> centre;  ///< Boundary point p [d−1]; none: ∞.
  double size = 1;
};
/// Distance, positive outside the horoball: log of ‖z−p‖²/(size·height), at ∞ log(size/height).
[[nodiscard]] double signed_distance_to_horosphere(const Horosphere& h, const Vector& x);

/// A Euclidean ball, as a hyperbolic ball appears in the half-space or the Poincaré ball.
struct EuclideanBall {
  Vector centre;
  double radius = 0;
};
/// Hyperbolic ball of radius ρ about half-space point c.
[[nodiscard]] EuclideanBall ball_in_halfspace(const Vector& c, double radius);
/// Hyperbolic ball about Poincaré-ball point c: centre c(1−m²)/(1−m²‖c‖²), radius
/// m(1−‖c‖²)/(1−m²‖c‖²), m = tanh(ρ/2).
[[nodiscard]] EuclideanBall ball_in_ball(const Vector& c, double radius);

}  // namespace conelab::geometry
