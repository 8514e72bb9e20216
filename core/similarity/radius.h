// Hyperbolic functions of a distance r >= 0 from a centre, computed without cancellation.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/similarity/number.h"

namespace conelab {

/// sinh r, cosh r and e^-r of a distance r >= 0.
struct Radius {
  double sinh, cosh;
  double decay;  ///< e^-r

  /// Computes all three from one exponential. If sinh r overflows, a large finite number
  /// takes its place.
  CONELAB_FORMULA static Radius of(double r) {
    const double m = std::min(std::expm1(r), std::numeric_limits<double>::max());
    const double decay = 1 / (1 + m);
    return {0.5 * m * (1 + decay), 1 + 0.5 * m * (m * decay), decay};
  }
  /// Computes the same from sinh r, which must be at most 1e154 (its square must not overflow).
  CONELAB_FORMULA static Radius of_sinh(double sinh) {
    const double cosh = std::sqrt(1 + sinh * sinh);
    return {sinh, cosh, 1 / (sinh + cosh)};
  }
  /// Returns 1 - e^(-2r) without cancellation.
  [[nodiscard]] CONELAB_FORMULA double rise() const { return 2 * sinh * decay; }
};

}  // namespace conelab
