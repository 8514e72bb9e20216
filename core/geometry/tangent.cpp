#include "core/geometry/tangent.h"

#include <cmath>

#include "core/geometry/isometry.h"

namespace conelab::geometry {
namespace {

Vector origin(Eigen::Index d) { return Vector::Unit(d, d - 1); }

ModelPoint halfspace(const Vector& x) { return {Model::halfspace, x, 1.0}; }

/// sinh(x)/x and its inverse companion asinh(x)/x, 1 at 0.
double sinhc(double x) { return x == 0 ? 1 : std::sinh(x) / x; }
double asinhc(double x) { return x == 0 ? 1 : std::asinh(x) / x; }

}  // namespace

Vector exp_map(const Vector& p, const Vector& v) {
  const Vector at_origin = v * sinhc(v.stableNorm());
  return apply(carry(origin(p.size()), p), from_spatial(at_origin, Model::halfspace).x);
}

Vector log_map(const Vector& p, const Vector& q) {
  const Vector s = spatial(halfspace(apply(carry(p, origin(p.size())), q)));
  return s * asinhc(s.stableNorm());
}

Vector along_geodesic(const Vector& p, const Vector& q, double t) {
  return exp_map(p, t * log_map(p, q));
}

Vector midpoint(const Vector& p, const Vector& q) { return along_geodesic(p, q, 0.5); }

}  // namespace conelab::geometry
