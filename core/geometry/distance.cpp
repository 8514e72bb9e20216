#include "core/geometry/distance.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace conelab::geometry {
namespace {

double square(double x) { return x * x; }

double distance_halfspace(const Vector& u, const Vector& v) {
  const Eigen::Index last = u.size() - 1;
  return 2 * std::asinh((u - v).stableNorm() / (2 * std::sqrt(u[last]) * std::sqrt(v[last])));
}

double distance_ball(const ModelPoint& u, const ModelPoint& v) {
  return 2 * std::asinh((u.x - v.x).stableNorm() / (std::sqrt(u.gap) * std::sqrt(v.gap)));
}

double distance_klein(const ModelPoint& u, const ModelPoint& v) {
  const Vector difference = u.x - v.x;
  const double across = difference.squaredNorm() / v.gap;
  const double along = square(u.x.dot(difference)) / (u.gap * v.gap);
  return std::asinh(std::sqrt(across + along));
}

/// Returns sinh a · sinh b · sin²(θ/2) of the spatial parts, ‖far‖ ≥ ‖near‖ > 0. The component of
/// the difference orthogonal to `near` keeps the angle accurate for close points far from the
/// origin.
double angular_part(const Vector& far, const Vector& near) {
  const double a = far.stableNorm(), b = near.stableNorm();
  const Vector direction = near / b;
  const double cosine = (far / a).dot(direction);
  if (cosine <= 0) return a * b * (1 - cosine) / 2;
  const Vector difference = far - near;
  const double across = (difference - direction * direction.dot(difference)).stableNorm();
  return b / a * square(across) / (2 * (1 + cosine));
}

double distance_spatial(const Vector& u, const Vector& v) {
  const double a = u.stableNorm(), b = v.stableNorm();
  if (a < b) return distance_spatial(v, u);
  if (b == 0) return std::asinh(a);
  const double sinh_radial = (u - v).dot(u + v) / (a * std::hypot(1.0, b) + b * std::hypot(1.0, a));
  const double radial = square(sinh_radial) / (2 * (1 + std::hypot(1.0, sinh_radial)));
  return 2 * std::asinh(std::sqrt(radial + angular_part(u, v)));
}

/// Returns sin²(α/2) of two directions of the hemisphere, given by their azimuthal charts.
double haversine(const Vector& w, const Vector& z) {
  const double a = w.norm(), b = z.norm();
  const double polar = square(std::sin((a - b) / 2));
  if (a == 0 || b == 0) return polar;
  const double azimuth = square((w / a - z / b).norm() / 2);
  return polar + std::sin(a) * std::sin(b) * azimuth;
}

double distance_band(const ModelPoint& u, const ModelPoint& v) {
  const Eigen::Index last = u.x.size() - 1;
  const double along = std::sinh((u.x[last] - v.x[last]) / 2);
  const double across = std::sqrt(haversine(u.x.head(last), v.x.head(last)));
  return 2 * std::asinh(std::hypot(along, across) / (std::sqrt(u.gap) * std::sqrt(v.gap)));
}

}  // namespace

double distance(const ModelPoint& u, const ModelPoint& v) {
  if (u.dimension() != v.dimension()) {
    misuse("points of different dimensions (first {}, second {})", u.dimension(), v.dimension());
  }
  if (u.model != v.model) return distance_spatial(spatial(u), spatial(v));
  switch (u.model) {
    case Model::halfspace:
      return distance_halfspace(u.x, v.x);
    case Model::ball:
      return distance_ball(u, v);
    case Model::klein:
      return distance_klein(u, v);
    case Model::hyperboloid:
      return distance_spatial(spatial(u), spatial(v));
    case Model::band:
      return distance_band(u, v);
  }
  return 0;
}

double distance(Model model, const Vector& u, const Vector& v) {
  return distance(point(model, u), point(model, v));
}

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

}  // namespace conelab::geometry
