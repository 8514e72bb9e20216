// Finite penumbral cones: the light is a ball of radius R about the source; formulas in
// finite_cone.h. Valid for ρ > R.
#include <limits>

#include "core/geometry/cone_family.h"
#include "core/geometry/finite_cone.h"

namespace conelab::geometry {
namespace {

RadialDomain domain(const Values& v) {
  return {v[0], std::numeric_limits<double>::infinity(), "the radius of the source"};
}
double shadow(const Values& v, double rho) { return penumbral_shadow(v[0], rho); }
double radial(const Values& v, double shadow) { return penumbral_distance(v[0], shadow); }
double limit(const Values& v) { return penumbral_limit(v[0]); }
double extension(const Values&, double u, double v, double base) {
  return penumbral_reach(u, v, base);
}

Values extended(const Values&, double radial) { return {radial}; }

}  // namespace

const ConeFamily penumbral_finite_family = {
    "penumbral-finite",
    "penumbral shadow cones of a ball of light (Shadow Cones)",
    {{"source_radius", 0.5, Domain::positive, true, "hyperbolic radius R of the source's ball"}},
    Base::sphere,
    domain,
    shadow,
    radial,
    limit,
    limit,
    extension,
    extended};

}  // namespace conelab::geometry
