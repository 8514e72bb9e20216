// Ganea's entailment cones: finite penumbral cones about the origin of the ball, sinh R = 2K.
//
// Their own definition is by half-aperture ψ and angle Ξ (aperture.h); that the two agree is a
// test. K = 0.1 is R = 0.19869. Ganea et al. (2018), eq. 26-28; Coneheads §3.
#include <cmath>

#include "core/geometry/cone_family.h"

namespace conelab::geometry {
namespace {

Values as_penumbral(const Values& v) { return {std::asinh(2 * v[0])}; }

RadialDomain domain(const Values& v) {
  RadialDomain d = penumbral_finite_family.domain(as_penumbral(v));
  d.bound = "asinh(2K)";
  return d;
}
double shadow(const Values& v, double rho) {
  return penumbral_finite_family.shadow(as_penumbral(v), rho);
}
double radial(const Values& v, double shadow) {
  return penumbral_finite_family.radial(as_penumbral(v), shadow);
}
double limit(const Values& v) { return penumbral_finite_family.top_potential(as_penumbral(v)); }
double extension(const Values& values, double u, double v, double base) {
  return penumbral_finite_family.extension(as_penumbral(values), u, v, base);
}

Values extended(const Values&, double radial) { return {std::sinh(radial) / 2}; }

}  // namespace

const ConeFamily ganea_family = {
    "ganea",
    "Ganea's hyperbolic entailment cones (Ganea et al. 2018)",
    {{"K", 0.1, Domain::positive, true, "constant K of the half-aperture"}},
    Base::sphere,
    domain,
    shadow,
    radial,
    limit,
    limit,
    extension,
    extended};

}  // namespace conelab::geometry
