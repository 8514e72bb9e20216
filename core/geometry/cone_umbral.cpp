// Infinite umbral cones: parallel light from ∞, each point carries a ball of hyperbolic radius r.
//
//   s(x) = −x_d sinh r,  p(x) = x_d sinh r,  height(p) = p / sinh r
//
// The ball about x is the Euclidean disc of centre (x_:, x_d cosh r) and radius x_d sinh r, whose
// vertical shadow has exactly that radius. The cone of u is the triangle under u of slopes
// ±1/sinh r. Any two points have a common ancestor. Coneheads (2023), eq. 8 and 36.
#include <cmath>
#include <limits>

#include "core/geometry/cone_family.h"

namespace conelab::geometry {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

RadialDomain domain(const Values&) { return {0, infinity, "the boundary"}; }
double shadow(const Values& v, double height) { return height * std::sinh(v[0]); }
double radial(const Values& v, double shadow) { return shadow / std::sinh(v[0]); }
double top_potential(const Values&) { return 0; }
double largest_shadow(const Values&) { return infinity; }

}  // namespace

const ConeFamily umbral_family = {
    "umbral",
    "umbral shadow cones of parallel light from infinity (Coneheads eq. 8)",
    {{"radius", 0.1, Domain::positive, true, "hyperbolic radius r of the objects"}},
    Base::plane,
    domain,
    shadow,
    radial,
    top_potential,
    largest_shadow,
    nullptr,
    nullptr};

}  // namespace conelab::geometry
