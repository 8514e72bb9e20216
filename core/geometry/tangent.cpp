#include "core/geometry/tangent.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/geometry/distance.h"
#include "core/geometry/isometry.h"

namespace conelab::geometry {
namespace {

Vector origin(Eigen::Index d) { return Vector::Unit(d, d - 1); }

ModelPoint halfspace(const Vector& x) { return {Model::halfspace, x, 1.0}; }

/// sinh(x)/x and its inverse companion asinh(x)/x, 1 at 0.
double sinhc(double x) { return x == 0 ? 1 : std::sinh(x) / x; }
double asinhc(double x) { return x == 0 ? 1 : std::asinh(x) / x; }

void check_mean(const std::vector<Vector>& points, const std::vector<double>& weights) {
  if (points.empty()) misuse("a mean of no points");
  if (weights.size() != points.size()) {
    misuse("a mean of {} points got {} weights", points.size(), weights.size());
  }
  double sum = 0;
  for (const double w : weights) {
    if (!(w >= 0)) misuse("a mean needs weights that are not negative (found {})", w);
    sum += w;
  }
  if (!(sum > 0)) misuse("a mean needs weights with a positive sum");
  for (const Vector& p : points) {
    if (p.size() != points.front().size()) {
      misuse("a mean of points of different dimensions ({} and {})", points.front().size(),
             p.size());
    }
  }
}

/// Σ w X / ‖Σ w X‖_M on the hyperboloid: a good start, and the mean itself for two points.
Vector lorentz_centroid(const std::vector<Vector>& points, const std::vector<double>& weights) {
  Vector space = Vector::Zero(points.front().size());
  double time = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vector s = spatial(halfspace(points[i]));
    space += weights[i] * s;
    time += weights[i] * std::hypot(1.0, s.stableNorm());
  }
  const double klein_gap = std::max(one_minus_squared_norm(space / time), 1e-300);
  return from_spatial(space / (time * std::sqrt(klein_gap)), Model::halfspace).x;
}

struct Pull {
  Vector gradient;   ///< Σ w log_m(p) / Σ w.
  double curvature;  ///< Σ w d coth d / Σ w, an upper bound of the Hessian.
};

Pull pull(const Vector& m, const std::vector<Vector>& points, const std::vector<double>& weights) {
  Pull sum{Vector::Zero(m.size()), 0};
  double total = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vector v = log_map(m, points[i]);
    const double d = v.norm();
    sum.gradient += weights[i] * v;
    sum.curvature += weights[i] * (d > 1e-8 ? d / std::tanh(d) : 1.0);
    total += weights[i];
  }
  return {sum.gradient / total, sum.curvature / total};
}

}  // namespace

Vector exp_map(const Vector& p, const Vector& v) {
  const Vector at_origin = v * sinhc(v.stableNorm());
  return apply(carry(origin(p.size()), p), from_spatial(at_origin, Model::halfspace).x);
}

Vector log_map(const Vector& p, const Vector& q) {
  const Vector s = spatial(halfspace(apply(carry(p, origin(p.size())), q)));
  return s * asinhc(s.stableNorm());
}

Vector parallel_transport(const Vector& p, const Vector& q, const Vector& v) {
  const Eigen::Index m = p.size() - 1;
  const Vector leave = log_map(p, q), arrive = -log_map(q, p);
  const double across = leave.head(m).norm();
  if (across == 0) return v;  // A vertical geodesic does not turn.
  Vector direction = Vector::Zero(m + 1);
  direction.head(m) = leave.head(m) / across;
  const double turn = std::atan2(arrive[m], arrive.dot(direction)) - std::atan2(leave[m], across);
  const double horizontal = v.dot(direction), vertical = v[m];
  Vector out = v + direction * (horizontal * (std::cos(turn) - 1) - vertical * std::sin(turn));
  out[m] = horizontal * std::sin(turn) + vertical * std::cos(turn);
  return out;
}

Vector along_geodesic(const Vector& p, const Vector& q, double t) {
  return exp_map(p, t * log_map(p, q));
}

Vector midpoint(const Vector& p, const Vector& q) { return along_geodesic(p, q, 0.5); }

Vector frechet_mean(const std::vector<Vector>& points, const std::vector<double>& given) {
  const std::vector<double> weights =
      given.empty() ? std::vector<double>(points.size(), 1.0) : given;
  check_mean(points, weights);
  Vector m = lorentz_centroid(points, weights);
  double last = HUGE_VAL;
  for (int i = 0; i < 1000; ++i) {
    const Pull step = pull(m, points, weights);
    const double size = step.gradient.norm();
    if (size <= 1e-14 || (size < 1e-9 && size >= last)) break;
    last = size;
    m = exp_map(m, step.gradient / step.curvature);
  }
  return m;
}

Vector mobius_add(const Vector& x, const Vector& y) {
  const double xy = x.dot(y), xx = x.squaredNorm(), yy = y.squaredNorm();
  return ((1 + 2 * xy + yy) * x + (1 - xx) * y) / (1 + 2 * xy + xx * yy);
}

}  // namespace conelab::geometry
