#include "core/geometry/locus.h"

#include <cmath>

#include "core/base/error.h"
#include "core/geometry/distance.h"
#include "core/geometry/isometry.h"

namespace conelab::geometry {
namespace {

/// The isometry that carries the geodesic to the axis 0–∞, `from` to 0.
Isometry straighten(const Geodesic& g) {
  if (g.from && g.to) return carry_to_axis(*g.from, *g.to);
  if (g.from) return translation(-*g.from);
  return compose(carry_to_infinity(Vector::Zero(g.to->size())), translation(-*g.to));
}

}  // namespace

// The ends solve ‖c‖ = R on the line through both feet: with e the unit horizontal direction and
// D its length, the centre is at D/2 + (v_d² − u_d²)/(2D) from u's foot.
Geodesic geodesic_through(const Vector& u, const Vector& v) {
  const Eigen::Index m = u.size() - 1;
  if (u == v) misuse("a geodesic needs two different points");
  const Vector across = v.head(m) - u.head(m);
  const double length = across.stableNorm();
  if (length == 0) {
    const Vector foot = u.head(m);
    return v[m] > u[m] ? Geodesic{foot, std::nullopt} : Geodesic{std::nullopt, foot};
  }
  const Vector direction = across / length;
  const double centre = length / 2 + (v[m] - u[m]) * (v[m] + u[m]) / (2 * length);
  const double radius = std::hypot(centre, u[m]);
  // One end without cancellation, the other from their product −u_d².
  const double far = centre >= 0 ? centre + radius : centre - radius;
  const double near = -u[m] * u[m] / far;
  const double left = std::min(far, near), right = std::max(far, near);
  return {Vector(u.head(m) + left * direction), Vector(u.head(m) + right * direction)};
}

Vector nearest_on_geodesic(const Geodesic& g, const Vector& x) {
  const Isometry there = straighten(g);
  const Vector moved = apply(there, x);
  return apply(inverse(there), Vector(Vector::Unit(x.size(), x.size() - 1) * moved.stableNorm()));
}

double distance_to_geodesic(const Geodesic& g, const Vector& x) {
  const Vector moved = apply(straighten(g), x);
  const Eigen::Index m = x.size() - 1;
  return std::asinh(moved.head(m).stableNorm() / moved[m]);
}

double signed_distance_to_geodesic(double a, double b, double x, double y) {
  if (std::isinf(b)) return std::asinh((x - a) / y);
  if (std::isinf(a)) return std::asinh((b - x) / y);
  return std::asinh(((x - a) * (x - b) + y * y) / (y * (b - a)));
}

double signed_distance_to_horosphere(const Horosphere& h, const Vector& x) {
  const Eigen::Index m = x.size() - 1;
  if (!h.centre) return std::log(h.size) - std::log(x[m]);
  const double reach = std::hypot((x.head(m) - *h.centre).stableNorm(), x[m]);
  return 2 * std::log(reach) - std::log(h.size) - std::log(x[m]);
}

EuclideanBall ball_in_halfspace(const Vector& c, double radius) {
  const Eigen::Index m = c.size() - 1;
  Vector centre = c;
  centre[m] *= std::cosh(radius);
  return {centre, c[m] * std::sinh(radius)};
}

EuclideanBall ball_in_ball(const Vector& c, double radius) {
  const double m = std::tanh(radius / 2);
  const double scale = 1 / (1 - m * m * c.squaredNorm());
  return {c * ((1 - m * m) * scale), m * one_minus_squared_norm(c) * scale};
}

}  // namespace conelab::geometry
