// Finite umbral cones: the light is a point, each object a ball of radius r; formulas in
// finite_cone.h. Valid for ρ > r, where the object does not swallow the light.
#include <limits>
#include <numbers>

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

}  // namespace

const ConeFamily umbral_finite_family = {
    "umbral-finite",
    "umbral shadow cones of a point light (Shadow Cones)",
    {{"object_radius", 0.1, Domain::positive, true, "hyperbolic radius r of the objects"}},
    Base::sphere,
    domain,
    shadow,
    radial,
    top_potential,
    largest_shadow,
    extension,
    extended};

}  // namespace conelab::geometry
