// Finite umbral cones: the light is a point, each object a ball of radius r; formulas in
// finite_cone.h. Valid for ρ > r, where the object does not swallow the light.
#include <limits>
#include <numbers>

#include "core/base/cone_parameters.h"
#include "core/geometry/cone_family.h"
#include "core/geometry/finite_cone.h"

namespace conelab::geometry {
namespace {

RadialDomain domain(const Values& v) {
  return {v[0], std::numeric_limits<double>::infinity(), "the radius of the objects"};
}
double shadow(const Values& v, double rho) { return umbral_shadow(v[0], rho); }
double radial(const Values& v, double shadow) { return umbral_distance(v[0], shadow); }
double top_potential(const Values&) { return 0; }
double largest_shadow(const Values&) { return std::numbers::pi / 2; }
double extension(const Values&, double u, double v, double base) {
  return umbral_reach(u, v, base);
}

Values extended(const Values&, double radial) { return {radial}; }
double radius(const Values& v) { return v[0]; }

}  // namespace

const ConeFamily umbral_finite_family = {
    "umbral-finite",
    "umbral shadow cones of a point light (Shadow Cones)",
    {cone_object_radius},
    Base::sphere,
    domain,
    shadow,
    radial,
    top_potential,
    largest_shadow,
    extension,
    extended,
    false,
    radius,
    "A larger object_radius makes larger cones, for instance -p object_radius=1 of the command "
    "tree"};

}  // namespace conelab::geometry
