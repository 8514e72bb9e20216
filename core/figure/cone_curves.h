// All curves of a cone scene in the hyperbolic plane, for any family and any position of the
// source.
//
// In the coordinates of the law (axis a, shadow radius p; core/geometry/cone_law.h) the edges of
// all cones are the null lines a ± p = const, and the depths are the lines p = const. For every
// family these are cycles of the plane: edges are geodesics (penumbral) or equidistant curves
// (umbral), and depths are horospheres or circles about the source. Three points from the formulas
// of the family therefore determine each curve exactly, and the code below is the same for every
// family.
#pragma once

#include <vector>

#include "core/figure/hyperbolic_curve.h"
#include "core/geometry/cone_law.h"

namespace conelab::figure {

/// A point of the plane in the coordinates of the law.
struct AxisShadow {
  double axis = 0;    ///< x, or the angle seen from the source [radians].
  double shadow = 0;  ///< p, the radius of the shadow.
};

/// Level lines of K(u, ·). `within` are at depths of common ancestors; `beyond` are at the depths
/// that extend the family where there are none, two curves each.
struct LevelLines {
  std::vector<Curve> within, beyond;
};

class ConeCurves {
 public:
  /// Curves of a system in the plane, d = 2.
  explicit ConeCurves(const geometry::ConeSystem& system);

  [[nodiscard]] const geometry::ConeSystem& system() const { return system_; }
  /// Returns the coordinates of a point (half-plane, [2]). Throws misuse if it is outside the
  /// domain of the family (geometry::element); the message begins with `label`.
  [[nodiscard]] AxisShadow locate(const geometry::Vector& half_plane, const char* label) const;
  [[nodiscard]] AxisShadow locate(const geometry::Element& element) const;
  [[nodiscard]] HemispherePoint at(const AxisShadow& place) const;
  /// Returns the point with this axis and radial coordinate. It also holds inside the light, where
  /// p is not defined.
  [[nodiscard]] HemispherePoint at_radial(double axis, double radial) const;

  /// Returns the cone of u, closed along the boundary.
  [[nodiscard]] Curve cone(const AxisShadow& u) const;
  /// Returns one of its two edges, from u to the boundary. `side` is −1 or +1.
  [[nodiscard]] Curve edge(const AxisShadow& u, int side) const;
  /// Returns the region of all ancestors of u up to the light (or to ∞), closed. For u = LCA these
  /// are the common ancestors.
  [[nodiscard]] Curve ancestors(const AxisShadow& u) const;
  /// Returns the region of all points that have a common ancestor with u, closed. The largest
  /// shadow must be finite.
  [[nodiscard]] Curve related(const AxisShadow& u) const;
  /// Returns the curve from u to an ancestor that lies on the edge of the region of its ancestors.
  [[nodiscard]] Curve ascent(const AxisShadow& u, const AxisShadow& ancestor) const;
  /// Returns on which side of u a point w lies, −1 or +1.
  [[nodiscard]] int side_of(const AxisShadow& u, const AxisShadow& w) const;
  /// Returns the curve that bounds the cone of u on this side, continued beyond u up to the light
  /// (or to ∞): it bounds the cones of all points on it.
  [[nodiscard]] Curve whole_edge(const AxisShadow& u, int side) const;
  /// Returns all points of this radial coordinate: a horosphere or a circle about the source.
  [[nodiscard]] CycleArc level(double radial) const;
  /// Returns the segment of a level between two axes.
  [[nodiscard]] Curve level_between(double shadow, double from_axis, double to_axis) const;

  /// Returns the points where K(u, ·) equals the depth with this shadow radius, which lies between
  /// that of u and the largest one. The curve begins and ends on the boundary.
  [[nodiscard]] Curve similarity_level(const AxisShadow& u, double shadow) const;

  /// Returns one of the two curves where K(u, ·) equals a depth that extends the family beyond
  /// common ancestors. The depth is given by its radial coordinate, the curve by `side`, −1 or +1.
  [[nodiscard]] Curve extended_level(const AxisShadow& u, double radial, int side) const;

  /// Returns `count` levels of K(u, ·), in equal steps of the depth from that of u to the end of
  /// the depths, and as many beyond it. If depths have no end (umbral, source at ∞), the levels
  /// extend to the height `endless_top`.
  [[nodiscard]] LevelLines similarity_levels(
      const AxisShadow& u, int count, double endless_top,
      geometry::DepthMeasure measure = geometry::DepthMeasure::height) const;

  /// These return, for umbral families, the ball about the object at a point and its shadow, which
  /// is closed.
  [[nodiscard]] Curve object_ball(const geometry::Vector& half_plane) const;
  [[nodiscard]] Curve shadow(const geometry::Vector& half_plane) const;

  [[nodiscard]] bool umbral() const;
  /// These return, for penumbral families, the border of the light and a point inside it.
  [[nodiscard]] CycleArc light() const;
  [[nodiscard]] HemispherePoint source() const;

 private:
  [[nodiscard]] double radius_parameter() const { return system_.values.front(); }
  [[nodiscard]] double largest() const;
  /// Returns the part from shadow p0 to p1 of the null line through u on this side.
  [[nodiscard]] CycleArc null_line(const AxisShadow& u, int side, double p0, double p1) const;

  geometry::ConeSystem system_;
  Motion from_standard_;
};

}  // namespace conelab::figure
