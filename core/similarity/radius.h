// Hyperbolic functions of a distance from a centre.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace conelab {

/// Without cancellation.
struct Radius {
  double sinh, cosh;
  double decay;  ///< e^-r

  /// By one exponential; bounded where sinh would overflow.
  static Radius of(double r) {
    const double m = std::min(std::expm1(r), std::numeric_limits<double>::max());
    const double decay = 1 / (1 + m);
    return {0.5 * m * (1 + decay), 1 + 0.5 * m * (m * decay), decay};
  }
  /// sinh at most 1e154.
  static Radius of_sinh(double sinh) {
    const double cosh = std::sqrt(1 + sinh * sinh);
    return {sinh, cosh, 1 / (sinh + cosh)};
  }
  /// 1 - e^(-2r)
  [[nodiscard]] double rise() const { return 2 * sinh * decay; }
};

}  // namespace conelab
