// Exact curves of the hyperbolic plane for figures: arcs of cycles on the hemisphere.
//
// The hemisphere model puts a point at (k, g): k the Klein coordinates, g = √(1−‖k‖²) ≥ 0, a unit
// vector of R³; ideal points have g = 0 and ∞ of the half-plane is (0, 1, 0). Geodesics,
// horospheres, hypercycles, circles and the boundary itself are all cut out by planes
// n·k + c g + m = 0 ("cycles"), and in every model a cycle is one curve in closed form:
//   half-plane  (n_y+m)|z|² + 2n_x x + 2c h + (m−n_y) = 0      circle or line
//   ball        (m−c)‖y‖² + 2n·y + (m+c) = 0                   circle or line
//   Klein       the circle seen from above                     ellipse or chord
// So a curve is kept as three points of the hemisphere and drawn in any model without sampling.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/geometry/cone_law.h"

namespace conelab::figure {

/// (k_x, k_y, g), a unit vector with g ≥ 0.
using HemispherePoint = Eigen::Vector3d;

/// The point above (x, h) of the half-plane, h ≥ 0.
[[nodiscard]] HemispherePoint from_half_plane(double x, double height);
/// Direction (cos a, sin a) of the ball at distance ρ from its centre; ρ = ∞ is ideal.
[[nodiscard]] HemispherePoint from_polar(double angle, double rho);
inline const HemispherePoint point_at_infinity{0, 1, 0};
/// The point on the half-plane again; not for ∞.
[[nodiscard]] Eigen::Vector2d to_half_plane(const HemispherePoint& p);

/// The plane n·k + c g + m = 0, `normal` = (n_x, n_y, c).
struct Cycle {
  Eigen::Vector3d normal;
  double m = 0;
};
[[nodiscard]] Cycle cycle_through(const HemispherePoint& a, const HemispherePoint& b,
                                  const HemispherePoint& c);

/// A circle |z − w/a|² = (r/a)², also where a = 0 and it is a line.
struct WeightedCircle {
  double a = 0;            ///< Positive or negative curvature, scaled.
  Eigen::Vector2d centre;  ///< w.
  double radius = 0;       ///< r ≥ 0.
};
[[nodiscard]] WeightedCircle half_plane_circle(const Cycle& cycle);
[[nodiscard]] WeightedCircle ball_circle(const Cycle& cycle);
/// The ellipse in the Klein ball: its centre, half-axes and the direction of the first.
struct KleinEllipse {
  Eigen::Vector2d centre;
  double along = 0, across = 0, tilt = 0;
};
[[nodiscard]] KleinEllipse klein_ellipse(const Cycle& cycle);

/// The arc of a cycle from `from` through `via` to `to`; `whole` cycles pass through all three.
struct CycleArc {
  HemispherePoint from, via, to;
  bool whole = false;
  [[nodiscard]] Cycle cycle() const { return cycle_through(from, via, to); }
};

/// Points of an arc by a parameter in [0, 1]: on the hemisphere it is a circle's arc.
class ArcParameter {
 public:
  explicit ArcParameter(const CycleArc& arc);
  [[nodiscard]] HemispherePoint operator()(double t) const;

 private:
  [[nodiscard]] double angle(const HemispherePoint& p) const;
  Eigen::Vector3d centre_, first_, second_;
  double sweep_ = 0;
};
/// The turn from one angle to another that passes a third, in (−2π, 2π).
[[nodiscard]] double sweep_through(double from, double via, double to);

/// Arcs end to end.
using Curve = std::vector<CycleArc>;

/// The same curve from its end to its beginning.
[[nodiscard]] Curve reversed(const Curve& curve);
[[nodiscard]] Curve joined(std::initializer_list<Curve> parts);

/// An isometry as it acts on the hemisphere: the Lorentz matrix on (k, 1)/g.
class Motion {
 public:
  Motion() : matrix_(Eigen::Matrix3d::Identity()) {}
  explicit Motion(const geometry::Isometry& isometry);  ///< d = 2.
  [[nodiscard]] HemispherePoint operator()(const HemispherePoint& p) const;

 private:
  Eigen::Matrix3d matrix_;
};

/// The geodesic segment between two points of the half-plane, or the whole geodesic.
[[nodiscard]] Curve geodesic_curve(const geometry::Vector& u, const geometry::Vector& v,
                                   bool whole = false);
/// The circle of hyperbolic radius r about a point of the half-plane.
[[nodiscard]] Curve circle_curve(const geometry::Vector& centre, double radius);
/// The boundary of H².
[[nodiscard]] Curve boundary_curve();

}  // namespace conelab::figure
