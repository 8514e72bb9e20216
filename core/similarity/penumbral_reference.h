// Penumbral cones as the authors' published code computes them.
//
//   logit = -gamma height^2        (convention = reference: the final root is not taken)
//
// Let s(x) = sqrt(h^2 - x_d^2 + e), r(x) = sqrt(h^2 - x_d^2), a = x_d^2, e = 1e-6; u is the query,
// v the key, and D the distance of the base points x_:. Then
//   D <= s_u + r_v:  height^2 = max(a_u, a_v, h^2 - ((s_u + s_v - D) / 2)^2)
//   otherwise:       height^2 = ((D^2 + a_v - a_u) / (2D + e))^2 + a_u
// Because of e the formula is not symmetric in u and v. The published code computes D from a matrix
// product if there are more than 25 rows; here D is always exact. In terms of the potential s, a =
// h^2 + e - s^2.
// Source: the code published with Coneheads.
#pragma once

#include "core/similarity/penumbral.h"

namespace conelab {

struct PenumbralReference : PenumbralTokens {
  static constexpr SimilarityInfo info{
      "penumbral",
      "-gamma height(LCA)^2, height^2 = max(u_d^2, v_d^2, h^2 - ((s_u + s_v - D)/2)^2), s = "
      "sqrt(h^2 - x_d^2 + 1e-6), where D <= s_u + sqrt(h^2 - v_d^2), else u_d^2 + ((D^2 + v_d^2 - "
      "u_d^2)/(2D + 1e-6))^2; u the query, v the key",
      "the code published with Coneheads",
      Space::half_space,
      Measure::squared_distance,
      "xi",
      {{&convention, "reference"}, {&lca_depth, "height"}}};
  static constexpr double epsilon = 1e-6;

  /// Here the numbers of a token are s, a = x_d^2, r.
  template <class Place, class N>
  CONELAB_FORMULA static void token(const Place& place, const double* p, N* value) {
    const N square = place.light_distance * (N(p[1]) + place.height);
    value[0] = sqrt(square + N(epsilon));
    value[1] = place.height * place.height;
    value[2] = sqrt(square);
  }
  CONELAB_FORMULA static void token_gradient(const EmbeddedPoint& place, const double* p,
                                             double slope, EmbeddedPoint& gradient, double* dp) {
    const double half =
        slope / (2 * std::sqrt(place.light_distance * (p[1] + place.height) + epsilon));
    gradient.height += half * place.light_distance;
    gradient.light_distance += half * (p[1] + place.height);
    dp[1] += half * place.light_distance;
  }

  /// Returns (D^2 + a_v - a_u) / (2D + e), the horizontal distance from u to the centre of the
  /// semicircle through u and v.
  template <class N>
  CONELAB_FORMULA static N centre(N x, const N* q, const N* k) {
    return (x + k[1] - q[1]) / (N(2) * sqrt(x) + N(epsilon));
  }
  template <class N>
  CONELAB_FORMULA static N height2(N x, const N* q, const N* k, const N* c) {
    const N below = N(0.5) * (q[0] + k[0] - sqrt(x));
    const N within = max(max(q[1], k[1]), c[1] * c[1] - below * below);
    const N reach = q[0] + k[2];
    const N outside = centre(x, q, k);
    return select(x <= reach * reach, within, outside * outside + q[1]);
  }
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    return -(c[0] * height2(x, q, k, c));
  }

  /// Returns the squared height (in the field `logit`) and its derivatives if the pair has a common
  /// ancestor. The derivative with respect to h at fixed potentials is 2h, for `outside_slope` too.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> inside_slope(N x, const N* q, const N* k, const N* c) {
    const N distance = sqrt(x);
    const N below = N(0.5) * (q[0] + k[0] - distance);
    const N between = c[1] * c[1] - below * below;
    const N larger = max(q[1], k[1]);
    const N distinct = select(between > larger, N(1), select(between == larger, N(0.5), N(0)));
    const N q_larger = select(q[1] > k[1], N(1), select(q[1] == k[1], N(0.5), N(0)));
    const N common = -(distinct * below);
    const N rest = N(1) - distinct;
    return {max(larger, between),
            select(x > N(0), N(0.5) * distinct * below / distance, N(0)),
            common - N(2) * rest * q_larger * q[0],
            common - N(2) * rest * (N(1) - q_larger) * k[0],
            {N(0)}};
  }
  /// With f the centre: d(f^2 + a_u) = 2 f df + da_u and da = -2 s ds.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> outside_slope(N x, const N* q, const N* k) {
    const N distance = sqrt(x);
    const N inverse = N(1) / (N(2) * distance + N(epsilon));
    const N f = (x + k[1] - q[1]) * inverse;
    const N twice = N(2) * f * inverse;
    return {f * f + q[1],
            twice * (N(1) - f / distance),
            N(-2) * (N(1) - twice) * q[0],
            N(-2) * twice * k[0],
            {N(0)}};
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    const N reach = q[0] + k[2];
    const auto inside = x <= reach * reach;
    const Slope<N, 1> in = inside_slope(x, q, k, c);
    const Slope<N, 1> out = outside_slope(x, q, k);
    const N rate = -c[0];
    const N height2 = select(inside, in.logit, out.logit);
    return {rate * height2,
            rate * select(inside, in.x, out.x),
            rate * select(inside, in.query, out.query),
            rate * select(inside, in.key, out.key),
            {-height2, N(2) * rate * c[1]}};
  }
};

}  // namespace conelab
