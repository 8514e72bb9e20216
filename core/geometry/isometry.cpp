#include "core/geometry/isometry.h"

#include <cmath>

#include "core/base/error.h"

namespace conelab::geometry {
namespace {

Matrix eye(Eigen::Index n) { return Matrix::Identity(n, n); }

double positive(double value, const char* what) {
  if (!(value > 0)) misuse("{} must be positive (found {})", what, value);
  return value;
}

}  // namespace

Isometry carry(const Vector& p, const Vector& q) {
  const Eigen::Index m = p.size() - 1;
  const double factor = positive(q[m], "a height") / positive(p[m], "a height");
  return {std::nullopt, factor, eye(m), q.head(m) - factor * p.head(m)};
}

Isometry inverse(const Isometry& f) {
  const Matrix back = f.rotation.transpose();
  if (f.pole) return {f.shift, f.scale, back, *f.pole};
  return {std::nullopt, 1 / f.scale, back, back * f.shift * (-1 / f.scale)};
}

Vector apply(const Isometry& f, const Vector& x) {
  const Eigen::Index m = f.shift.size();
  if (x.size() != m + 1) {
    misuse("an isometry of {} dimensions got a point of {}", m + 1, x.size());
  }
  Vector y = x;
  if (f.pole) {
    y.head(m) -= *f.pole;
    const double norm = y.stableNorm();
    y = y / norm / norm;
  }
  Vector out(m + 1);
  out.head(m) = f.shift + f.scale * (f.rotation * y.head(m));
  out[m] = f.scale * y[m];
  return out;
}

ModelPoint apply(const Isometry& f, const ModelPoint& p) {
  const Vector image = apply(f, convert(p, Model::halfspace).x);
  return convert(ModelPoint{Model::halfspace, image, 1.0}, p.model);
}

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
