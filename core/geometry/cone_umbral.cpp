// Infinite umbral cones: parallel light from ∞, each point carries a ball of hyperbolic radius r.
//
//   s(x) = −x_d sinh r,  p(x) = x_d sinh r,  height(p) = p / sinh r
//
// The ball about x is the Euclidean disc of centre (x_:, x_d cosh r) and radius x_d sinh r, whose
// vertical shadow has exactly that radius. The cone of u is the triangle under u of slopes
// ±1/sinh r. Any two points have a common ancestor. Coneheads (2023), eq. 8 and 36.
#include <cmath>
#include <limits>

#include "core/base/cone_parameters.h"
#include "core/geometry/cone_family.h"

namespace conelab::geometry {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

RadialDomain domain(const Values&) { return {0, infinity, "the boundary"}; }
double shadow(const Values& v, double height) { return height * std::sinh(v[0]); }
double radial(const Values& v, double shadow) { return shadow / std::sinh(v[0]); }
double top_potential(const Values&) { return 0; }
double largest_shadow(const Values&) { return infinity; }
double radius(const Values& v) { return v[0]; }

}  // namespace

const ConeFamily umbral_family = {
    "umbral",
    "umbral shadow cones of parallel light from infinity (Coneheads eq. 8)",
    {cone_radius},
    Base::plane,
    domain,
    shadow,
    radial,
    top_potential,
    largest_shadow,
    nullptr,
    nullptr,
    false,
    radius,
    "A larger radius of the objects makes larger cones, for instance -p radius=3 of the command "
    "tree"};

}  // namespace conelab::geometry
