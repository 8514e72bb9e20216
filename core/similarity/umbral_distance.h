// Umbral cones of a source at infinity with a distance of the LCA in place of its height.
//
//   logit = -gamma ln height(LCA)        (depth = distance)
//
// The light is infinitely far; ln height is the distance from it up to a constant, which cancels
// under softmax. Heights and domain are those of umbral.h. e^logit = height^-gamma.
// Source: Coneheads, eq. 4, with f the identity.
#pragma once

#include "core/similarity/umbral.h"

namespace conelab {

struct UmbralDistance : Umbral {
  static constexpr SimilarityInfo info{"umbral",
                                       "-gamma ln(height(LCA))",
                                       "Coneheads eq. 4",
                                       Space::half_space,
                                       Measure::squared_distance,
                                       "psi",
                                       {{&convention, "paper"}, {&lca_depth, "distance"}}};
  static constexpr bool one_pass = false;

  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    const N unit[] = {N(1), c[1]};
    return -(c[0] * log(-Umbral::score(x, q, k, unit)));
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    const N unit[] = {N(1), c[1]};
    const Slope<N, constants> s = Umbral::slope(x, q, k, unit);  // The derivatives of -height.
    const N by_gamma = -log(-s.logit);
    const N rate = -(c[0] / s.logit);
    return {c[0] * by_gamma,
            rate * s.x,
            rate * s.query,
            rate * s.key,
            {by_gamma, rate * s.constant[1]}};
  }
};

}  // namespace conelab
