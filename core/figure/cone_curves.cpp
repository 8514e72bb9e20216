#include "core/figure/cone_curves.h"

#include <cmath>

#include "core/base/error.h"

namespace conelab::figure {
namespace {

using geometry::ConeSystem;
using geometry::Vector;

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

ConeCurves::ConeCurves(const ConeSystem& system) : system_(system) {
  if (system.to_standard) {
    if (system.to_standard->dimension() != 2) misuse("a figure of cones is drawn in the plane");
    from_standard_ = Motion(geometry::inverse(*system.to_standard));
  }
}

bool ConeCurves::umbral() const { return !system_.family->penumbral; }

double ConeCurves::largest() const { return system_.family->largest_shadow(system_.values); }

AxisShadow ConeCurves::locate(const geometry::Element& e) const {
  if (system_.infinite()) return {e.axis[0], e.shadow};
  return {std::atan2(e.axis[1], e.axis[0]), e.shadow};
}

AxisShadow ConeCurves::locate(const Vector& half_plane, const char* label) const {
  return locate(geometry::element(
      system_, geometry::point(geometry::Model::halfspace, half_plane, label), label));
}

HemispherePoint ConeCurves::at_radial(double axis, double radial) const {
  return from_standard_(system_.infinite() ? from_half_plane(axis, radial)
                                           : from_polar(axis, radial));
}

HemispherePoint ConeCurves::at(const AxisShadow& place) const {
  if (std::isinf(place.shadow)) return from_standard_(point_at_infinity);
  const double ideal = system_.infinite() ? 0 : infinity;
  const double radial =
      place.shadow > 0 ? system_.family->radial(system_.values, place.shadow) : ideal;
  return at_radial(place.axis, radial);
}

CycleArc ConeCurves::null_line(const AxisShadow& u, int side, double p0, double p1) const {
  const auto on = [&](double p) {
    return at({std::isinf(p) ? 0 : u.axis + side * (u.shadow - p), p});
  };
  const double middle = std::isinf(p1) ? 2 * p0 + 1 : (p0 + p1) / 2;
  return {on(p0), on(middle), on(p1)};
}

Curve ConeCurves::edge(const AxisShadow& u, int side) const {
  return {null_line(u, side, u.shadow, 0)};
}

Curve ConeCurves::cone(const AxisShadow& u) const {
  return joined(
      {reversed(edge(u, -1)), edge(u, +1), level_between(0, u.axis + u.shadow, u.axis - u.shadow)});
}

Curve ConeCurves::ancestors(const AxisShadow& u) const {
  const double top = largest();
  const Curve left = {null_line(u, +1, u.shadow, top)}, right = {null_line(u, -1, u.shadow, top)};
  if (std::isinf(top)) return joined({right, reversed(left)});
  const double half = top - u.shadow;
  return joined({right, level_between(top, u.axis + half, u.axis - half), reversed(left)});
}

Curve ConeCurves::related(const AxisShadow& u) const {
  const double reach = 2 * largest() - u.shadow;
  return joined({similarity_level(u, largest()), level_between(0, u.axis + reach, u.axis - reach)});
}

int ConeCurves::side_of(const AxisShadow& u, const AxisShadow& w) const {
  const double apart = w.axis - u.axis;
  return (system_.infinite() ? apart : std::remainder(apart, 2 * std::numbers::pi)) > 0 ? 1 : -1;
}

Curve ConeCurves::whole_edge(const AxisShadow& u, int side) const {
  return {null_line(u, side, 0, largest())};
}

Curve ConeCurves::ascent(const AxisShadow& u, const AxisShadow& ancestor) const {
  return {null_line(u, -side_of(u, ancestor), u.shadow, ancestor.shadow)};
}

CycleArc ConeCurves::level(double radial) const {
  const double step = system_.infinite() ? radial : 2 * std::numbers::pi / 3;
  return {at_radial(-step, radial), at_radial(0, radial), at_radial(step, radial), true};
}

Curve ConeCurves::level_between(double shadow, double from_axis, double to_axis) const {
  return {
      {at({from_axis, shadow}), at({(from_axis + to_axis) / 2, shadow}), at({to_axis, shadow})}};
}

Curve ConeCurves::similarity_level(const AxisShadow& u, double shadow) const {
  const double half = shadow - u.shadow;
  const AxisShadow left{u.axis - half, shadow}, right{u.axis + half, shadow};
  const Curve down_left = edge(left, -1), down_right = edge(right, +1);
  if (half <= 0) return joined({reversed(down_left), down_right});
  return joined({reversed(down_left), level_between(shadow, left.axis, right.axis), down_right});
}

// Returns the level of `radial` beyond the original domain. Under the parameters that put the
// common ancestor of u and w on the border of the domain, w lies on the edge of that border's cone.
// The curve begins at the border of the original domain.
Curve ConeCurves::extended_level(const AxisShadow& u, double radial, int side) const {
  const geometry::ConeFamily& family = *system_.family;
  const double u_radial = family.radial(system_.values, u.shadow);
  ConeCurves other(*this);
  other.system_.values = family.extended(system_.values, radial);
  const double top = other.largest();
  const double half = top - family.shadow(other.system_.values, u_radial);
  const geometry::RadialDomain domain = family.domain(system_.values);
  const double border = system_.infinite() ? domain.high : domain.low;
  return {other.null_line({u.axis + side * half, top}, side,
                          family.shadow(other.system_.values, border), 0)};
}

LevelLines ConeCurves::similarity_levels(const AxisShadow& u, int count, double endless_top,
                                         geometry::DepthMeasure measure) const {
  const geometry::ConeFamily& family = *system_.family;
  const bool endless = std::isinf(largest());
  const auto depth = [&](double radial) { return geometry::depth_of(system_, radial, measure); };
  const auto radial_at = [&](double d) { return geometry::radial_of(system_, d, measure); };
  const double own = depth(family.radial(system_.values, u.shadow));
  const double top = depth(endless ? endless_top : family.radial(system_.values, largest()));
  const double step = (top - own) / (count + 0.5);
  LevelLines lines;
  for (int i = 1; i <= count; ++i) {
    lines.within.push_back(
        similarity_level(u, family.shadow(system_.values, radial_at(own + step * i))));
    const double radial = radial_at(top + step * i);
    if (endless || radial <= 0) continue;
    for (const int side : {-1, 1}) lines.beyond.push_back(extended_level(u, radial, side));
  }
  return lines;
}

Curve ConeCurves::object_ball(const Vector& half_plane) const {
  return circle_curve(half_plane, radius_parameter());
}

// The rays that touch the ball lie above u's axis ± p. The tangent point is at the height y cosh r,
// or at the distance t from the light with cosh ρ = cosh r cosh t.
Curve ConeCurves::shadow(const Vector& half_plane) const {
  const geometry::Element e =
      geometry::element(system_, geometry::point(geometry::Model::halfspace, half_plane));
  const AxisShadow u = locate(e);
  const double r = radius_parameter();
  const double tangent =
      system_.infinite() ? e.radial * std::cosh(r) : std::acosh(std::cosh(e.radial) / std::cosh(r));
  const double below = system_.infinite() ? e.radial * std::exp(-r) : e.radial + r;
  const double middle = system_.infinite() ? tangent / 2 : tangent + 1;
  const double ideal = system_.infinite() ? 0 : infinity;
  const auto ray = [&](double axis) {
    return Curve{{at_radial(axis, tangent), at_radial(axis, middle), at_radial(axis, ideal)}};
  };
  const Curve far_side = {{at_radial(u.axis + u.shadow, tangent), at_radial(u.axis, below),
                           at_radial(u.axis - u.shadow, tangent)}};
  return joined({far_side, ray(u.axis - u.shadow),
                 level_between(0, u.axis - u.shadow, u.axis + u.shadow),
                 reversed(ray(u.axis + u.shadow))});
}

CycleArc ConeCurves::light() const {
  const geometry::RadialDomain domain = system_.family->domain(system_.values);
  return level(system_.infinite() ? domain.high : domain.low);
}

HemispherePoint ConeCurves::source() const {
  return from_standard_(system_.infinite() ? point_at_infinity : from_polar(0, 0));
}

}  // namespace conelab::figure
