// Finite penumbral cones: the light is a ball of radius R about the source.
#include "core/base/cone_parameters.h"
#include "core/geometry/finite_penumbra.h"

namespace conelab::geometry {
namespace {

constexpr const char* bound = "the radius of the source";
double radius_of(const Values& v) { return v[0]; }
double parameter_of(double radius) { return radius; }

}  // namespace

const ConeFamily penumbral_finite_family = FinitePenumbra<radius_of, parameter_of, bound>::row(
    "penumbral-finite", "penumbral shadow cones of a ball of light (Shadow Cones)",
    cone_source_radius,
    "Cones depend on source_radius, which under map polar moves the tokens too: smaller and larger "
    "ones order other pairs, if any");

}  // namespace conelab::geometry
