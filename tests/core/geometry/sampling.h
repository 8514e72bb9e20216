// Random points for the geometry tests: uniform directions, distances uniform in a range.
#pragma once

#include <random>

#include "core/geometry/isometry.h"
#include "core/geometry/model.h"

namespace conelab::geometry::test {

class Sampler {
 public:
  explicit Sampler(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Vector normal(Eigen::Index d) {
    Vector x(d);
    for (double& value : x) value = gauss_(engine_);
    return x;
  }
  Vector direction(Eigen::Index d) { return normal(d).normalized(); }
  /// A point at a distance in [low, high] from the origin.
  ModelPoint at_distance(Eigen::Index d, double low, double high, Model model) {
    return from_spatial(direction(d) * std::sinh(uniform(low, high)), model);
  }
  Vector halfspace(Eigen::Index d, double low_height, double high_height, double spread) {
    Vector x = normal(d) * spread;
    x[d - 1] = std::exp(uniform(std::log(low_height), std::log(high_height)));
    return x;
  }
  Matrix orthogonal(Eigen::Index d) {
    Matrix a(d, d);
    for (Eigen::Index i = 0; i < d; ++i) a.col(i) = normal(d);
    for (Eigen::Index i = 0; i < d; ++i) {  // Gram-Schmidt, twice for orthogonality to rounding.
      for (int pass = 0; pass < 2; ++pass) {
        for (Eigen::Index j = 0; j < i; ++j) a.col(i) -= a.col(j) * a.col(j).dot(a.col(i));
        a.col(i).normalize();
      }
    }
    return a;
  }
  /// An isometry of either form, with a pole or without.
  Isometry isometry(Eigen::Index d) {
    Isometry f{std::nullopt, uniform(0.3, 3), orthogonal(d - 1), normal(d - 1)};
    if (uniform(0, 1) < 0.5) f.pole = normal(d - 1);
    return f;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> gauss_;
};

inline Vector vec(std::initializer_list<double> values) {
  Vector x(static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double value : values) x[i++] = value;
  return x;
}

}  // namespace conelab::geometry::test
