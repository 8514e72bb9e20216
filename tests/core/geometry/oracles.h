// Formulas of hyperbolic geometry that share none with core/geometry, as independent answers:
// distances to geodesics, balls, and how far a point is outside a cone.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/geometry/cone_law.h"
#include "core/geometry/distance.h"

namespace conelab::geometry {

/// A point relative to a geodesic with two finite ends, `from` at 0 and `to` at `length`.
struct Relative {
  Vector direction;  ///< Unit, from → to [d−1].
  double length, along, height;
  Vector beside;  ///< The rest of the horizontal difference [d−1].
};

inline Relative relative_to(const Vector& from, const Vector& to, const Vector& x) {
  const Eigen::Index m = x.size() - 1;
  const double length = (to - from).stableNorm();
  const Vector direction = (to - from) / length;
  const Vector difference = x.head(m) - from;
  const double along = difference.dot(direction);
  return {direction, length, along, x[m], difference - along * direction};
}

/// The distance (>= 0) of x [d] from a geodesic, any d.
// sinh²δ = ‖x−a‖²‖x−b‖²/(L y)² − 1, with the −1 taken out by hand.
inline double distance_to_geodesic(const Geodesic& g, const Vector& x) {
  const Eigen::Index m = x.size() - 1;
  if (!g.from || !g.to) {
    return std::asinh((x.head(m) - (g.from ? *g.from : *g.to)).stableNorm() / x[m]);
  }
  const Relative r = relative_to(*g.from, *g.to, x);
  const double beside = r.beside.stableNorm();
  const double in_plane =
      r.along * (r.along / r.length - 1) + (beside * beside + r.height * r.height) / r.length;
  return std::asinh(std::hypot(in_plane, beside) / r.height);
}

/// d = 2, ends a ≠ b: sinh δ = ((x−a)(x−b)+y²) / (y(b−a)), positive outside the semicircle when
/// a < b; with an infinite end sinh δ = (x−a)/y for b = ∞, −(x−b)/y for a = ∞.
inline double signed_distance_to_geodesic(double a, double b, double x, double y) {
  if (std::isinf(b)) return std::asinh((x - a) / y);
  if (std::isinf(a)) return std::asinh((b - x) / y);
  return std::asinh(((x - a) * (x - b) + y * y) / (y * (b - a)));
}

/// A Euclidean ball, as a hyperbolic ball appears in the half-space or the Poincaré ball.
struct EuclideanBall {
  Vector centre;
  double radius = 0;
};
/// Hyperbolic ball of radius ρ about half-space point c: centre (c_:, c_d cosh ρ), radius c_d sinh
/// ρ.
inline EuclideanBall ball_in_halfspace(const Vector& c, double radius) {
  const Eigen::Index m = c.size() - 1;
  Vector centre = c;
  centre[m] *= std::cosh(radius);
  return {centre, c[m] * std::sinh(radius)};
}

/// About Poincaré-ball point c: centre c(1−m²)/(1−m²‖c‖²), radius m(1−‖c‖²)/(1−m²‖c‖²),
/// m = tanh(ρ/2).
inline EuclideanBall ball_in_ball(const Vector& c, double radius) {
  const double m = std::tanh(radius / 2);
  const double scale = 1 / (1 - m * m * c.squaredNorm());
  return {c * ((1 - m * m) * scale), m * one_minus_squared_norm(c) * scale};
}

/// How far v is outside the cone of u: max(0, base − (p_u − p_v)), 0 exactly for members.
inline double energy(Base base, const Element& u, const Element& v) {
  return std::max(0.0, base_distance(base, u.axis, v.axis) - (u.shadow - v.shadow));
}

}  // namespace conelab::geometry
