#include "core/reference/penumbral.h"

#include <algorithm>
#include <cmath>

namespace conelab::reference {
namespace {

constexpr Real epsilon = 1e-6;

/// h^2 - x_d^2 as a product, which does not cancel near the light.
Real below_light(const Point& x, Real h) { return x.gap * (h + x.height); }

}  // namespace

Real penumbral_height(const Point& u, const Point& v, Real h) {
  const Real distance = std::sqrt(squared_distance(u.base, v.base));
  const Real su = std::sqrt(below_light(u, h));
  const Real sv = std::sqrt(below_light(v, h));
  if (distance <= su + sv) {
    const Real m = std::min(std::min(su, sv), (su + sv - distance) / 2);
    return std::sqrt(h * h - m * m);
  }
  const Real au = u.height * u.height;
  const Real av = v.height * v.height;
  const Real tilt = (au - av) / (2 * distance);
  return std::sqrt(distance * distance / 4 + (au + av) / 2 + tilt * tilt);
}

Real published_penumbral_height2(const Point& u, const Point& v, Real h) {
  const Real distance = std::sqrt(squared_distance(u.base, v.base));
  const Real su = std::sqrt(below_light(u, h) + epsilon);
  const Real sv = std::sqrt(below_light(v, h) + epsilon);
  const Real au = u.height * u.height;
  const Real av = v.height * v.height;
  const Real beyond = distance - su;
  if (distance <= su || beyond * beyond <= below_light(v, h)) {
    const Real m = (su + sv - distance) / 2;
    return std::max(std::max(au, av), h * h - m * m);
  }
  const Real centre = (distance * distance + av - au) / (2 * distance + epsilon);
  return centre * centre + au;
}

}  // namespace conelab::reference
