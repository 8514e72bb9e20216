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
#include "core/similarity/number.h"
#include "core/similarity/similarity.h"

namespace conelab {

struct Laplacian {
  static constexpr SimilarityInfo info{
      "laplacian",      "-gamma |q - k|",          "Coneheads section 5",
      Space::euclidean, Measure::squared_distance, "none"};
  static constexpr std::array parameters{inverse_temperature};
  static constexpr int values = 0;
  static constexpr int constants = 1;
  static constexpr bool proportional = true;
  static constexpr bool one_pass = true;
  static constexpr bool token_slope = false;

  static void constant(const double* p, double* c) { c[0] = p[0]; }
  CONELAB_FORMULA static void constant_gradient(const double*, const double* dc, double* dp) {
    dp[0] += dc[0];
  }
  CONELAB_FORMULA static void token(const EmbeddedPoint&, const double*, double*) {}
  CONELAB_FORMULA static void token_gradient(const EmbeddedPoint&, const double*, double,
                                             EmbeddedPoint&, double*) {}

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
