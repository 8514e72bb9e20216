// Penumbral cones with the distance of the LCA from the light in place of its height.
//
//   logit = -gamma ln(height(LCA) / h)        (depth = distance)
//
// Heights, domain and the cases without a common ancestor are those of penumbral.h, in which an LCA
// may lie above the light; its distance counts as negative then. e^logit = (height / h)^-gamma.
// Source: Coneheads, eq. 4, with f the identity.
#pragma once

#include "core/similarity/penumbral.h"

namespace conelab {

struct PenumbralDistance : PenumbralTokens {
  static constexpr SimilarityInfo info{"penumbral",
                                       "-gamma ln(height(LCA)/h)",
                                       "Coneheads eq. 4",
                                       Space::half_space,
                                       Measure::squared_distance,
                                       "xi",
                                       {{&convention, "paper"}, {&lca_depth, "distance"}}};

  /// Returns twice the logarithm of height / h.
  template <class N>
  CONELAB_FORMULA static N twice_log(N height2, const N* c) {
    return log(height2 / (c[1] * c[1]));
  }
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    return N(-0.5) * c[0] * twice_log(N(0.25) * Penumbral::height2(x, q, k, c), c);
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    const Slope<N, 1> s = Penumbral::height2_slope(x, q, k, c);
    const N by_gamma = N(-0.5) * twice_log(s.logit, c);
    const N rate = N(-0.5) * c[0] / s.logit;
    return {c[0] * by_gamma,
            rate * s.x,
            rate * s.query,
            rate * s.key,
            {by_gamma, rate * s.constant[0] + c[0] / c[1]}};
  }
};

}  // namespace conelab
