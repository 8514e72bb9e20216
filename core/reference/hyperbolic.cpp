#include "core/reference/hyperbolic.h"

#include <algorithm>
#include <cmath>

namespace conelab::reference {

Real half_space_distance(const Point& u, const Point& v) {
  const Real climb = u.height - v.height;
  const Real chord2 = squared_distance(u.base, v.base) + climb * climb;
  return 2 * std::asinh(std::sqrt(chord2) / (2 * std::sqrt(u.height * v.height)));
}

Real hyperboloid_distance(const Point& x, const Point& y) {
  const Real time = x.height - y.height;
  const Real minkowski2 = squared_distance(x.base, y.base) - time * time;
  // Rounding can leave twins slightly below zero; a NaN stays one.
  return 2 * std::asinh(std::sqrt(minkowski2 < 0 ? Real(0) : minkowski2) / 2);
}

}  // namespace conelab::reference
