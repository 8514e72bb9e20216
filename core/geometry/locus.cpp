#include "core/geometry/locus.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace conelab::geometry {
// The ends solve ‖c‖ = R on the line through both feet: with e the unit horizontal direction and
// D its length, the centre is at D/2 + (v_d² − u_d²)/(2D) from u's foot.
Geodesic geodesic_through(const Vector& u, const Vector& v) {
  const Eigen::Index m = u.size() - 1;
  if (u == v) misuse("a geodesic needs two different points");
  const Vector across = v.head(m) - u.head(m);
  const double length = across.stableNorm();
  if (length == 0) {
    const Vector foot = u.head(m);
    return v[m] > u[m] ? Geodesic{foot, std::nullopt} : Geodesic{std::nullopt, foot};
  }
  const Vector direction = across / length;
  const double centre = length / 2 + (v[m] - u[m]) * (v[m] + u[m]) / (2 * length);
  const double radius = std::hypot(centre, u[m]);
  // Compute one end without cancellation, and the other from the product of both, −u_d².
  const double far = centre >= 0 ? centre + radius : centre - radius;
  const double near = -u[m] * u[m] / far;
  const double left = std::min(far, near), right = std::max(far, near);
  return {Vector(u.head(m) + left * direction), Vector(u.head(m) + right * direction)};
}

}  // namespace conelab::geometry
