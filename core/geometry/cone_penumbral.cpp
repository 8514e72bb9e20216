// Infinite penumbral cones: the light is the horoball above height h.
//
//   s(x) = √(h² − x_d²),  p(x) = h − s(x) = x_d²/(h + s),  height(p) = √(p(2h − p))
//
// The cone of u lies between the arcs of radius h through u that are centred on the boundary, at
// u_: ± s(u); they meet the boundary at distance h − s = p from u_:. Valid for 0 < x_d < h.
// Without a common ancestor the height is the radius of the semicircle through u and v, which is
// the height of the lowest horosphere for which one exists. Coneheads (2023), eq. 5-6 and 23.
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/geometry/cone_family.h"

namespace conelab::geometry {
namespace {

RadialDomain domain(const Values& v) { return {0, v[0], "the height of the source"}; }

double shadow(const Values& v, double height) {
  const double h = v[0];
  return height * (height / (h + std::sqrt((h - height) * (h + height))));
}

double radial(const Values& v, double shadow) { return std::sqrt(shadow * (2 * v[0] - shadow)); }

double own_height(const Values& v) { return v[0]; }

double extension(const Values&, double u, double v, double base) {
  const double shift = (v - u) * (v + u) / (2 * base);
  return std::hypot(base / 2 + shift, u);
}

Values extended(const Values&, double radial) { return {radial}; }

}  // namespace

const ConeFamily penumbral_family = {
    "penumbral",
    "penumbral shadow cones of a horosphere at infinity (Coneheads eq. 5-6)",
    {cone_height},
    Base::plane,
    domain,
    shadow,
    radial,
    own_height,
    own_height,
    extension,
    extended,
    true,
    own_height,
    "Under map xi the parameter height scales tokens and cones alike and changes no order; tokens "
    "nearer to the light have larger cones"};

}  // namespace conelab::geometry
