// Exact curves of the hyperbolic plane for figures: arcs of cycles on the hemisphere.
//
// The hemisphere model represents a point by the unit vector (k, g) of R³, where k are its Klein
// coordinates and g = √(1−‖k‖²) ≥ 0. Ideal points have g = 0; ∞ of the half-plane is (0, 1, 0).
// Geodesics, horospheres, hypercycles, circles and the boundary are the intersections of the
// hemisphere with planes n·k + c g + m = 0, called cycles. In every model a cycle is one curve in
// closed form:
//   half-plane  (n_y+m)|z|² + 2n_x x + 2c h + (m−n_y) = 0      circle or line
//   ball        (m−c)‖y‖² + 2n·y + (m+c) = 0                   circle or line
//   Klein       the circle projected along g                   ellipse or chord
// A curve is therefore stored as three points of the hemisphere, and can be drawn in any model
// without sampling.
#pragma once

#include <Eigen/Core>
#include <initializer_list>
#include <vector>

#include "core/geometry/cone_law.h"

namespace conelab::figure {

/// The vector (k_x, k_y, g), a unit vector with g ≥ 0.
using HemispherePoint = Eigen::Vector3d;

/// Returns the point (x, h) of the half-plane, h ≥ 0, on the hemisphere.
[[nodiscard]] HemispherePoint from_half_plane(double x, double height);
[[nodiscard]] inline HemispherePoint from_half_plane(const geometry::Vector& point) {
  return from_half_plane(point[0], point[1]);
}
/// Returns the point in direction (cos a, sin a) of the ball, at distance ρ from its centre; ρ = ∞
/// gives an ideal point.
[[nodiscard]] HemispherePoint from_polar(double angle, double rho);
inline const HemispherePoint point_at_infinity{0, 1, 0};
/// Returns the half-plane coordinates of a point other than ∞.
[[nodiscard]] Eigen::Vector2d to_half_plane(const HemispherePoint& p);

/// A cycle: the plane n·k + c g + m = 0 with `normal` = (n_x, n_y, c).
struct Cycle {
  Eigen::Vector3d normal;
  double m = 0;
};
[[nodiscard]] Cycle cycle_through(const HemispherePoint& a, const HemispherePoint& b,
                                  const HemispherePoint& c);

/// The circle |z − w/a|² = (r/a)². For a = 0 it is a line.
struct WeightedCircle {
  double a = 0;            ///< Positive or negative curvature, scaled.
  Eigen::Vector2d centre;  ///< w.
  double radius = 0;       ///< r ≥ 0.
};
[[nodiscard]] WeightedCircle half_plane_circle(const Cycle& cycle);
[[nodiscard]] WeightedCircle ball_circle(const Cycle& cycle);
/// An ellipse in the Klein ball: its centre, its half-axes, and the direction `tilt` of the first.
struct KleinEllipse {
  Eigen::Vector2d centre;
  double along = 0, across = 0, tilt = 0;
};
[[nodiscard]] KleinEllipse klein_ellipse(const Cycle& cycle);

/// The arc of a cycle from `from` through `via` to `to`. If `whole` is true, it is the complete
/// cycle through the three points.
struct CycleArc {
  HemispherePoint from, via, to;
  bool whole = false;
  [[nodiscard]] Cycle cycle() const { return cycle_through(from, via, to); }
};

/// The points of an arc as a function of a parameter in [0, 1]. On the hemisphere the arc is that
/// of a circle.
class ArcParameter {
 public:
  explicit ArcParameter(const CycleArc& arc);
  [[nodiscard]] HemispherePoint operator()(double t) const;

 private:
  [[nodiscard]] double angle(const HemispherePoint& p) const;
  Eigen::Vector3d centre_, first_, second_;
  double sweep_ = 0;
};
/// Returns the angle in (−2π, 2π) that leads from `from` to `to` and passes `via`.
[[nodiscard]] double sweep_through(double from, double via, double to);

/// A sequence of arcs, each of which begins at the end of the previous one.
using Curve = std::vector<CycleArc>;

/// Returns the same curve from its end to its beginning.
[[nodiscard]] Curve reversed(const Curve& curve);
[[nodiscard]] Curve joined(std::initializer_list<Curve> parts);

/// An isometry of the hemisphere, stored as the Lorentz matrix that acts on (k, 1)/g.
class Motion {
 public:
  Motion() : matrix_(Eigen::Matrix3d::Identity()) {}
  explicit Motion(const geometry::Isometry& isometry);  ///< d = 2.
  [[nodiscard]] HemispherePoint operator()(const HemispherePoint& p) const;

 private:
  Eigen::Matrix3d matrix_;
};

/// Returns the geodesic segment between two points of the half-plane [2], or the complete geodesic
/// if `whole` is true.
[[nodiscard]] Curve geodesic_curve(const geometry::Vector& u, const geometry::Vector& v,
                                   bool whole = false);
/// Returns the circle of this hyperbolic radius about a point of the half-plane [2].
[[nodiscard]] Curve circle_curve(const geometry::Vector& centre, double radius);
/// Returns the boundary of H².
[[nodiscard]] Curve boundary_curve();

}  // namespace conelab::figure
