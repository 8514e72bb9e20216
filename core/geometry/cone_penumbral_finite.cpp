// Finite penumbral cones: the light is a ball of radius R about the source.
#include "core/geometry/finite_penumbra.h"

namespace conelab::geometry {
namespace {

constexpr const char* bound = "the radius of the source";
double radius_of(const Values& v) { return v[0]; }
double parameter_of(double radius) { return radius; }

}  // namespace

const ConeFamily penumbral_finite_family = FinitePenumbra<radius_of, parameter_of, bound>::row(
    "penumbral-finite", "penumbral shadow cones of a ball of light (Shadow Cones)",
    {"source_radius", 0.5, Domain::positive, true, "hyperbolic radius R of the source's ball"});

}  // namespace conelab::geometry
