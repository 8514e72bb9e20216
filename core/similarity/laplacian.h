// Laplacian kernel.
//
//   logit = -gamma |q - k|
//
// Domain: all real vectors. At q = k, where |q - k| has no derivative, its derivative is taken as
// 0. Umbral cones of points of equal height reduce to this kernel.
// Source: Coneheads, section 5 (baseline).
#pragma once

#include <array>

#include "core/base/cone_parameters.h"
#include "core/similarity/dot.h"

namespace conelab {

struct Laplacian : OfMeasureAlone {
  static constexpr SimilarityInfo info{
      "laplacian",      "-gamma |q - k|",          "Coneheads section 5",
      Space::euclidean, Measure::squared_distance, "none"};
  static constexpr std::array parameters{inverse_temperature};
  static constexpr bool proportional = true;

  template <class N>
  CONELAB_FORMULA static N score(N x, const N*, const N*, const N* c) {
    return -(c[0] * sqrt(x));
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N*, const N*, const N* c) {
    const Root<N> distance = root(x);
    return {
        -(c[0] * distance.value), N(-0.5) * c[0] * distance.inverse, N(0), N(0), {-distance.value}};
  }
};

}  // namespace conelab
