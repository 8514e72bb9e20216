// Umbral cones of a source of light at infinity; the objects are balls of radius r.
//
//   logit  = -gamma height,  height = max(u_d, v_d, D / (2 sinh r) + (u_d + v_d) / 2)
//
// D is the distance of the base points x_:. Domain: half-space, x_d > 0. If the third term is the
// largest, the derivative of the height is 1/(2 sinh r) with respect to D and 1/2 with respect to
// each height; otherwise it is 1 with respect to the larger height. Equal terms share the
// derivative equally. At D = 0 the derivative of D is taken as 0.
// Source: Coneheads, eq. 8.
#pragma once

#include <array>
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/similarity/number.h"
#include "core/similarity/similarity.h"

namespace conelab {

struct Umbral {
  static constexpr SimilarityInfo info{
      "umbral",
      "-gamma height(LCA) of umbral cones: max(u_d, v_d, D/(2 sinh r) + (u_d + v_d)/2), D = |u_: - "
      "v_:|",
      "Coneheads eq. 8",
      Space::half_space,
      Measure::squared_distance,
      "psi",
      {{&convention, "paper"}, {&lca_depth, "height"}}};
  static constexpr std::array parameters{inverse_temperature, cone_radius};
  static constexpr int values = 1;     // the height u_d
  static constexpr int constants = 2;  // gamma, 1/sinh r
  static constexpr bool proportional = true;
  static constexpr bool one_pass = true;
  static constexpr bool token_slope = true;

  static void constant(const double* p, double* c) {
    c[0] = p[0];
    c[1] = 1 / std::sinh(p[1]);
  }
  CONELAB_FORMULA static void constant_gradient(const double* p, const double* dc, double* dp) {
    dp[0] += dc[0];
    dp[1] -= dc[1] / (std::sinh(p[1]) * std::tanh(p[1]));
  }
  template <class Place, class N>
  CONELAB_FORMULA static void token(const Place& place, const double*, N* value) {
    value[0] = place.height;
  }
  CONELAB_FORMULA static void token_gradient(const EmbeddedPoint&, const double*, double slope,
                                             EmbeddedPoint& gradient, double*) {
    gradient.height += slope;
  }

  /// Returns twice the third term. A compiler can contract this expression in one way only, so that
  /// score and slope round alike. They must: at logits of a thousand, a difference in the last bit
  /// of a logit would cause errors of 1e-2 in the gradients.
  template <class N>
  CONELAB_FORMULA static N twice_between(N distance, const N* q, const N* k, const N* c) {
    return c[1] * distance + (q[0] + k[0]);
  }
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    const N between = N(0.5) * twice_between(sqrt(x), q, k, c);
    return -(c[0] * max(max(q[0], k[0]), between));
  }

  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    const auto [distance, inverse] = root(x);
    const N larger = max(q[0], k[0]);
    const N between = N(0.5) * twice_between(distance, q, k, c);
    const N share = N(-0.5) * c[0];
    const N half_rate = N(0.5) * share * c[1];
    if (all(between > larger)) {  // True for most packs; distance > 0 then.
      return {-(c[0] * between), half_rate * inverse, share, share, {-between, share * distance}};
    }
    const N distinct = select(between > larger, N(1), select(between == larger, N(0.5), N(0)));
    const N q_larger = select(q[0] > k[0], N(1), select(q[0] == k[0], N(0.5), N(0)));
    const N q_share = N(0.5) * distinct + (N(1) - distinct) * q_larger;
    const N height = max(larger, between);
    return {-(c[0] * height),
            half_rate * distinct * inverse,
            -(c[0] * q_share),
            -(c[0] * (N(1) - q_share)),
            {-height, share * distance * distinct}};
  }
};

/// The published code's convention: the same formula behind another map (psi divides x_d by d).
struct UmbralReference : Umbral {
  static constexpr SimilarityInfo info{
      "umbral",
      "the same, behind the published code's map, psi with x_d / d in the exponent",
      "the code published with Coneheads",
      Space::half_space,
      Measure::squared_distance,
      "psi",
      {{&convention, "reference"}, {&lca_depth, "height"}}};
};

}  // namespace conelab
