// Every curve of a cone scene in the hyperbolic plane, for any family and any place of the source.
//
// In the coordinates of the law (axis a, shadow radius p) the edges of all cones are the null lines
// a ± p = const, and the depths are the lines p = const. For each family these are cycles of the
// plane (penumbral: geodesics; umbral: equidistant curves; depths: horospheres or circles about
// the source), so three points by the family's own formulas give each exactly, and nothing here
// knows which family it draws.
#pragma once

#include <vector>

#include "core/figure/hyperbolic_curve.h"

namespace conelab::figure {

/// Where a point of the plane stands in the law's coordinates.
struct AxisShadow {
  double axis = 0;    ///< x, or the angle at the source.
  double shadow = 0;  ///< p.
};

/// Level lines of K(u, ·): at depths of the family, and at those that extend it beyond the common
/// ancestors, in two curves each.
struct LevelLines {
  std::vector<Curve> within, beyond;
};

class ConeCurves {
 public:
  /// d = 2. Misuse where `apex` cannot be placed: see geometry::element.
  explicit ConeCurves(const geometry::ConeSystem& system);

  [[nodiscard]] const geometry::ConeSystem& system() const { return system_; }
  [[nodiscard]] AxisShadow locate(const geometry::Vector& half_plane, const char* label) const;
  [[nodiscard]] AxisShadow locate(const geometry::Element& element) const;
  [[nodiscard]] HemispherePoint at(const AxisShadow& place) const;
  /// Directly by the radial coordinate; of use inside the light, where p is not defined.
  [[nodiscard]] HemispherePoint at_radial(double axis, double radial) const;

  /// The cone of u, closed along the boundary.
  [[nodiscard]] Curve cone(const AxisShadow& u) const;
  /// Only its two edges, each from u to the boundary.
  [[nodiscard]] Curve edge(const AxisShadow& u, int side) const;
  /// All ancestors of u, up to the light (or to ∞), closed; of u = LCA: the common ancestors.
  [[nodiscard]] Curve ancestors(const AxisShadow& u) const;
  /// The way from u up to an ancestor on the edge of its ancestors.
  [[nodiscard]] Curve ascent(const AxisShadow& u, const AxisShadow& ancestor) const;
  /// All points of that radial coordinate: a horosphere or a circle about the source.
  [[nodiscard]] CycleArc level(double radial) const;
  /// The segment of a level between two axes.
  [[nodiscard]] Curve level_between(double shadow, double from_axis, double to_axis) const;

  /// Where K(u, ·) equals the depth with this shadow radius: down u's side from its ancestors'
  /// level to the boundary, on both sides. `shadow` between u's and the largest.
  [[nodiscard]] Curve similarity_level(const AxisShadow& u, double shadow) const;

  /// Where K(u, ·) equals the depth that extends the family beyond the common ancestors, given by
  /// its radial coordinate: one curve on each side of u.
  [[nodiscard]] Curve extended_level(const AxisShadow& u, double radial, int side) const;

  /// `count` levels of K(u, ·), at equal steps of the radial coordinate from u's own to where
  /// depths end, and as many beyond; where they have no end (the source at ∞, umbral) to
  /// `endless_top`.
  [[nodiscard]] LevelLines similarity_levels(const AxisShadow& u, int count,
                                             double endless_top) const;

  /// Umbral families: the ball about u's element, and its shadow (closed).
  [[nodiscard]] Curve object_ball(const geometry::Vector& half_plane) const;
  [[nodiscard]] Curve shadow(const geometry::Vector& half_plane) const;

  [[nodiscard]] bool umbral() const;
  /// Penumbral families: the border of the light and a point inside it.
  [[nodiscard]] CycleArc light() const;
  [[nodiscard]] HemispherePoint source() const;

 private:
  [[nodiscard]] double radius_parameter() const { return system_.values.front(); }
  [[nodiscard]] double largest() const;
  /// From shadow p0 to p1 along the null line that passes through (axis, shadow) of u.
  [[nodiscard]] CycleArc null_line(const AxisShadow& u, int side, double p0, double p1) const;

  geometry::ConeSystem system_;
  Motion from_standard_;
};

}  // namespace conelab::figure
