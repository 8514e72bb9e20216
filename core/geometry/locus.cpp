#include "core/geometry/locus.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace conelab::geometry {
namespace {

/// A point relative to a geodesic with two finite ends, `from` at 0 and `to` at `length`.
struct Relative {
  Vector direction;  ///< Unit, from → to [d−1].
  double length, along, height;
  Vector beside;  ///< The rest of the horizontal difference [d−1].
};

Relative relative_to(const Vector& from, const Vector& to, const Vector& x) {
  const Eigen::Index m = x.size() - 1;
  const double length = (to - from).stableNorm();
  const Vector direction = (to - from) / length;
  const Vector difference = x.head(m) - from;
  const double along = difference.dot(direction);
  return {direction, length, along, x[m], difference - along * direction};
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
  // Compute one end without cancellation, and the other from the product of both, −u_d².
  const double far = centre >= 0 ? centre + radius : centre - radius;
  const double near = -u[m] * u[m] / far;
  const double left = std::min(far, near), right = std::max(far, near);
  return {Vector(u.head(m) + left * direction), Vector(u.head(m) + right * direction)};
}

// The foot f keeps the ratio of the distances to the ends: tan β = ‖x−a‖/‖x−b‖, and on the
// semicircle ‖f−a‖ = L sin β, so f is L sin²β along and L sin β cos β high.
Vector nearest_on_geodesic(const Geodesic& g, const Vector& x) {
  const Eigen::Index m = x.size() - 1;
  Vector foot(m + 1);
  if (!g.from || !g.to) {
    const Vector& end = g.from ? *g.from : *g.to;
    foot << end, std::hypot((x.head(m) - end).stableNorm(), x[m]);
    return foot;
  }
  const Relative r = relative_to(*g.from, *g.to, x);
  const double aside = std::hypot(r.beside.stableNorm(), r.height);
  const double near = std::hypot(r.along, aside), far = std::hypot(r.length - r.along, aside);
  const double sine = near / std::hypot(near, far), cosine = far / std::hypot(near, far);
  foot << *g.from + r.direction * (r.length * sine * sine), r.length * sine * cosine;
  return foot;
}

// sinh²δ = ‖x−a‖²‖x−b‖²/(L y)² − 1, rearranged so that subtracting 1 does not cancel.
double distance_to_geodesic(const Geodesic& g, const Vector& x) {
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
