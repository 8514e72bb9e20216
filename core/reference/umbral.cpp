#include "core/reference/umbral.h"

#include <algorithm>
#include <cmath>

namespace conelab::reference {

Real umbral_height(const Point& u, const Point& v, Real r) {
  const Real distance = std::sqrt(squared_distance(u.base, v.base));
  const Real between = distance / (2 * std::sinh(r)) + (u.height + v.height) / 2;
  return std::max(std::max(u.height, v.height), between);
}

}  // namespace conelab::reference
