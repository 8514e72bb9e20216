// The number type of the reference. It is wider than double, so that textbook formulas with
// cancellation are accurate to 1e-12 of the value, and finite differences to 1e-9 of the
// derivative.
#pragma once

#include <vector>

namespace conelab::reference {

using Real = long double;

using Matrix = std::vector<std::vector<Real>>;  ///< By rows, all of equal length.
[[nodiscard]] Matrix transposed(const Matrix& m);

/// A mapped token.
struct Point {
  /// Euclidean: all d coordinates. Half-space: x_:. Hyperboloid: x_s. Ball: the direction.
  std::vector<Real> base;
  Real height = 0;  ///< Half-space: x_d. Hyperboloid: the time coordinate x_t. Ball: the distance.
  Real light_distance =
      0;  ///< h - x_d for penumbral cones. It is stored because h - h sigma(t) cancels.
};

/// Returns |a - b|^2 over the base coordinates.
[[nodiscard]] Real squared_distance(const std::vector<Real>& a, const std::vector<Real>& b);

}  // namespace conelab::reference
