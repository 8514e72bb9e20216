// Ganea's entailment cones: finite penumbral cones about the origin of the ball, sinh R = 2K.
//
// Their own definition is by half-aperture ψ and angle Ξ (aperture.h); that the two agree is a
// test. K = 0.1 is R = 0.19869. Ganea et al. (2018), eq. 26-28; Coneheads §3.
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/geometry/finite_penumbra.h"

namespace conelab::geometry {
namespace {

constexpr const char* bound = "asinh(2K)";
double radius_of(const Values& v) { return std::asinh(2 * v[0]); }
double parameter_of(double radius) { return std::sinh(radius) / 2; }

}  // namespace

const ConeFamily ganea_family = FinitePenumbra<radius_of, parameter_of, bound>::row(
    "ganea", "Ganea's hyperbolic entailment cones (Ganea et al. 2018)", cone_k,
    "Cones depend on K, which under map polar moves the tokens too: smaller and larger ones order "
    "other pairs, if any");

}  // namespace conelab::geometry
