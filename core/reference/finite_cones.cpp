#include "core/reference/finite_cones.h"

#include <algorithm>
#include <cmath>

namespace conelab::reference {
namespace {

Real angle(const Point& u, const Point& v) {
  std::vector<Real> opposite = v.base;
  for (Real& c : opposite) c = -c;
  return 2 * std::atan2(std::sqrt(squared_distance(u.base, v.base)),
                        std::sqrt(squared_distance(u.base, opposite)));
}

Real lowest(Real su, Real sv, Real theta) {
  return std::min(std::min(su, sv), (su + sv - theta) / 2);
}

/// sinh^2 of half the distance of two points, as a sum of squares.
Real half_distance2(const Point& u, const Point& v) {
  const Real radial = std::sinh((u.height - v.height) / 2);
  return radial * radial +
         std::sinh(u.height) * std::sinh(v.height) * squared_distance(u.base, v.base) / 4;
}

}  // namespace

Real penumbral_depth(const Point& u, const Point& v, Real radius) {
  // 1 - tanh^2 R / tanh^2 rho as a product, which does not cancel near the light.
  const auto potential = [&](Real rho) {
    const Real sine2 = std::sinh(rho - radius) * std::sinh(rho + radius);
    return std::atan2(std::sqrt(sine2) / std::cosh(radius), std::tanh(radius) * std::cosh(rho));
  };
  const Real theta = angle(u, v);
  const Real m = lowest(potential(u.height), potential(v.height), theta);
  if (m >= 0) return std::atanh(std::tanh(radius) / std::cos(m));
  const Real half = half_distance2(u, v);
  const Real sinh_distance = 2 * std::sqrt(half * (1 + half));
  return std::asinh(std::sinh(u.height) * std::sinh(v.height) * std::sin(theta) / sinh_distance);
}

Real umbral_depth(const Point& u, const Point& v, Real radius) {
  const Real a = std::sinh(u.height), b = std::sinh(v.height);
  const auto potential = [&](Real rho) {
    const Real cosine2 = std::sinh(rho - radius) * std::sinh(rho + radius);
    return -std::atan2(std::sinh(radius), std::sqrt(cosine2));
  };
  const Real theta = angle(u, v);
  const Real m = lowest(potential(u.height), potential(v.height), theta);
  if (m >= -std::acos(Real(-1)) / 2) return std::asinh(std::sinh(radius) / std::sin(-m));
  const Real side2 = (a - b) * (a - b) + a * b * squared_distance(u.base, v.base);
  return std::asinh(a * b * std::sin(theta) / std::sqrt(side2));
}

}  // namespace conelab::reference
