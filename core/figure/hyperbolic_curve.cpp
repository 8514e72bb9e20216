#include "core/figure/hyperbolic_curve.h"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/geometry/distance.h"
#include "core/geometry/isometry.h"

namespace conelab::figure {
namespace {

using geometry::Vector;

HemispherePoint end_point(const std::optional<Vector>& end) {
  return end ? from_half_plane((*end)[0], 0) : point_at_infinity;
}

}  // namespace

HemispherePoint from_half_plane(double x, double height) {
  const double n = x * x + height * height;
  return HemispherePoint(2 * x, n - 1, 2 * height) / (n + 1);
}

HemispherePoint from_polar(double angle, double rho) {
  const double reach = std::tanh(rho);
  return {reach * std::cos(angle), reach * std::sin(angle),
          std::isinf(rho) ? 0 : 1 / std::cosh(rho)};
}

Eigen::Vector2d to_half_plane(const HemispherePoint& p) {
  // Computes 1 − k_y without cancellation near ∞.
  const double below = p.y() > 0 ? (p.x() * p.x() + p.z() * p.z()) / (1 + p.y()) : 1 - p.y();
  return {p.x() / below, p.z() / below};
}

Cycle cycle_through(const HemispherePoint& a, const HemispherePoint& b, const HemispherePoint& c) {
  const Eigen::Vector3d normal = (b - a).cross(c - a).normalized();
  return {normal, -normal.dot(a)};
}

WeightedCircle half_plane_circle(const Cycle& cycle) {
  const Eigen::Vector3d& n = cycle.normal;
  return {n.y() + cycle.m, {-n.x(), -n.z()}, std::sqrt(std::max(0.0, 1 - cycle.m * cycle.m))};
}

WeightedCircle ball_circle(const Cycle& cycle) {
  const Eigen::Vector3d& n = cycle.normal;
  return {cycle.m - n.z(), {-n.x(), -n.y()}, std::sqrt(std::max(0.0, 1 - cycle.m * cycle.m))};
}

// Returns the ellipse of a cycle in the Klein model. This model is the projection of the hemisphere
// along g: the circle of radius √(1−m²) about −m·normal is shortened along the horizontal part of
// the normal, by the factor of its vertical part.
KleinEllipse klein_ellipse(const Cycle& cycle) {
  const Eigen::Vector3d& n = cycle.normal;
  const double radius = std::sqrt(std::max(0.0, 1 - cycle.m * cycle.m));
  return {{-cycle.m * n.x(), -cycle.m * n.y()},
          radius * std::abs(n.z()),
          radius,
          std::atan2(n.y(), n.x())};
}

double sweep_through(double from, double via, double to) {
  constexpr double round = 2 * std::numbers::pi;
  const auto turn = [](double angle) {
    const double t = std::fmod(angle, round);
    return t < 0 ? t + round : t;
  };
  const double whole = turn(to - from);
  return turn(via - from) <= whole ? whole : whole - round;
}

ArcParameter::ArcParameter(const CycleArc& arc) {
  const Cycle cycle = arc.cycle();
  centre_ = -cycle.m * cycle.normal;
  first_ = arc.from - centre_;
  second_ = cycle.normal.cross(first_);
  sweep_ = arc.whole ? 2 * std::numbers::pi : sweep_through(0, angle(arc.via), angle(arc.to));
}

HemispherePoint ArcParameter::operator()(double t) const {
  const double a = sweep_ * t;
  HemispherePoint p = centre_ + std::cos(a) * first_ + std::sin(a) * second_;
  p.z() = std::max(p.z(), 0.0);
  return p;
}

double ArcParameter::angle(const HemispherePoint& p) const {
  return std::atan2((p - centre_).dot(second_), (p - centre_).dot(first_));
}

Curve reversed(const Curve& curve) {
  Curve out(curve.rbegin(), curve.rend());
  for (CycleArc& arc : out) std::swap(arc.from, arc.to);
  return out;
}

Curve joined(std::initializer_list<Curve> parts) {
  Curve out;
  for (const Curve& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// Computes the matrix of the isometry. A Lorentz map is linear, so that three points of the
// hyperboloid and their images determine it.
Motion::Motion(const geometry::Isometry& isometry) {
  Eigen::Matrix3d before, after;
  const double places[3][2] = {{0, 1}, {1, 1}, {0, 2}};
  for (int i = 0; i < 3; ++i) {
    const Vector x = Eigen::Vector2d(places[i][0], places[i][1]);
    const auto lift = [](const Vector& p) {
      return geometry::convert(p, geometry::Model::halfspace, geometry::Model::hyperboloid);
    };
    before.col(i) = lift(x);
    after.col(i) = lift(geometry::apply(isometry, x));
  }
  matrix_ = after * before.inverse();
}

HemispherePoint Motion::operator()(const HemispherePoint& p) const {
  const Eigen::Vector3d image = matrix_ * Eigen::Vector3d(p.x(), p.y(), 1);
  return HemispherePoint(image.x(), image.y(), p.z()) / image.z();
}

Curve geodesic_curve(const Vector& u, const Vector& v, bool whole) {
  const HemispherePoint middle = from_half_plane(geometry::midpoint(u, v));
  if (!whole) return {{from_half_plane(u), middle, from_half_plane(v)}};
  const geometry::Geodesic g = geometry::geodesic_through(u, v);
  return {{end_point(g.from), middle, end_point(g.to)}};
}

Curve circle_curve(const Vector& centre, double radius) {
  const auto at = [&](double angle) {
    return from_half_plane(
        geometry::exp_map(centre, Eigen::Vector2d(std::cos(angle), std::sin(angle)) * radius));
  };
  const double third = 2 * M_PI / 3;
  return {{at(0), at(third), at(2 * third), true}};
}

Curve boundary_curve() {
  return {{from_half_plane(-1, 0), from_half_plane(0, 0), from_half_plane(1, 0), true}};
}

}  // namespace conelab::figure
