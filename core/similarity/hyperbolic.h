// Hyperbolic distance.
//
//   logit = -beta d_H(q, k) - c,   d_H = 2 asinh(sqrt z) = log1p(2z + 2 sqrt(z (1 + z)))
//
// z = sinh^2(d_H / 2) is a sum of squares in both models, so there is no cancellation near d_H = 0:
//   hyperboloid  z = sinh^2((r_u - r_v)/2) + sinh r_u sinh r_v |u^ - v^|^2 / 4,
//                r the distance from the origin, u^ the unit direction of u
//   half-space   z = (|u_: - v_:|^2 + (u_d - v_d)^2) / (4 u_d v_d)
// At d_H = 0 the derivative of d_H is taken as 0.
// Source: Gulcehre et al., Hyperbolic Attention Networks, eq. 2; the half-space form is a baseline
// of Coneheads.
#pragma once

#include <array>

#include "core/base/parameter.h"
#include "core/similarity/number.h"
#include "core/similarity/radius.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// The part of the formula that both models share, from z to the logit. `Model::half_sinh(z)`
/// returns sqrt(z (1 + z)) = sinh(d_H) / 2 and its inverse for every z that the model can produce.
template <class Model>
struct HyperbolicLaw {
  static constexpr std::array parameters{
      ParameterInfo{"beta", 1.0, Domain::positive, true, "inverse temperature"},
      ParameterInfo{"offset", 0.0, Domain::any, true,
                    "c, subtracted from every logit; cancels under softmax"}};
  static constexpr ParameterInfo model{
      "model",
      0,
      Domain::choice,
      false,
      "model of hyperbolic space; the default map of halfspace is psi",
      "hyperboloid|halfspace"};
  static constexpr int constants = 2;  // beta, c
  static constexpr bool token_slope = true;

  static void constant(const double* p, double* c) {
    c[0] = p[0];
    c[1] = p[1];
  }
  CONELAB_FORMULA static void constant_gradient(const double*, const double* dc, double* dp) {
    dp[0] += dc[0];
    dp[1] += dc[1];
  }
  CONELAB_FORMULA static void token_gradient(const EmbeddedPoint&, const double*, double slope,
                                             EmbeddedPoint& gradient, double*) {
    gradient.height += slope;
  }
  /// Returns d_H, given z and root = sqrt(z (1 + z)).
  template <class N>
  CONELAB_FORMULA static N distance(N z, N root) {
    return log1p(N(2) * (z + root));
  }
  template <class N>
  CONELAB_FORMULA static N logit(N z, const N* c) {
    return -(c[0] * distance(z, Model::half_sinh(z).value) + c[1]);
  }
  template <class N>
  CONELAB_FORMULA static bool is_closed(const N* c) {
    return c[0] == N(1) && c[1] == N(0);
  }
  /// Returns e^-d_H.
  template <class N>
  CONELAB_FORMULA static N decay(N z) {
    return N(1) / (N(1) + N(2) * (z + Model::half_sinh(z).value));
  }
  /// d_H and dlogit/dz, where dd_H/dz = 1/sqrt(z (1 + z)).
  template <class N>
  struct Rate {
    N distance, by_z;
    CONELAB_FORMULA Rate(N z, const N* c) {
      const Root<N> r = Model::half_sinh(z);
      distance = HyperbolicLaw::distance(z, r.value);
      by_z = -(c[0] * r.inverse);
    }
  };
};

struct HyperbolicHyperboloid : HyperbolicLaw<HyperbolicHyperboloid> {
  static constexpr SimilarityInfo info{
      "hyperbolic",
      "-beta d_H(q,k) - c, cosh d_H = cosh r_q cosh r_k - sinh r_q sinh r_k cos theta, r the "
      "distance from the origin, theta the angle between q and k",
      "Gulcehre et al. eq. 2; Coneheads section 5",
      Space::hyperboloid,
      Measure::squared_distance,
      "pi",
      {{&model, "hyperboloid"}}};
  // 2 sinh(r/2), e^(-r/2) and sinh r. Near the origin the first is as exact as r; far from it, its
  // products with the second cancel no more than the difference of the radii does.
  static constexpr int values = 3;

  CONELAB_FORMULA static void token(const EmbeddedPoint& place, const double*, double* value) {
    const Radius half = Radius::of(0.5 * place.height);
    value[0] = 2 * half.sinh;
    value[1] = half.decay;
    value[2] = 2 * half.sinh * half.cosh;
  }
  /// In float, tokens lie at most 21.7 from the origin, so that z stays below 3e18 and
  /// the product below does not overflow.
  template <class N>
  CONELAB_FORMULA static Root<N> half_sinh(N z) {
    if constexpr (is_double<N>) return root_z_1_plus_z(z);
    return root(z * (N(1) + z));
  }
  template <class N>
  CONELAB_FORMULA static N half_distance2(N x, const N* q, const N* k) {
    const N radial = N(0.5) * (q[0] * k[1] - q[1] * k[0]);
    return radial * radial + N(0.25) * (q[2] * k[2]) * x;
  }
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    return logit(half_distance2(x, q, k), c);
  }
  template <class N>
  CONELAB_FORMULA static N exponential(N x, const N* q, const N* k, const N*) {
    return decay(half_distance2(x, q, k));
  }
  template <class N>
  CONELAB_FORMULA static N twice_cosh(const N* t) {
    const N rise = t[0] + t[1];
    return rise * rise + t[1] * t[1];
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    const N z = half_distance2(x, q, k);
    const auto [d, by_z] = Rate<N>(z, c);
    const N up = q[0] * k[1];
    const N down = q[1] * k[0];
    const N radial = N(0.25) * (up - down) * (up + down + N(2) * (q[1] * k[1]));
    const N eighth = N(0.125) * x;
    return {-(c[0] * d + c[1]),
            by_z * N(0.25) * (q[2] * k[2]),
            by_z * (radial + eighth * twice_cosh(q) * k[2]),
            by_z * (eighth * q[2] * twice_cosh(k) - radial),
            {-d, N(-1)}};
  }
};

struct HyperbolicHalfSpace : HyperbolicLaw<HyperbolicHalfSpace> {
  static constexpr SimilarityInfo info{"hyperbolic",
                                       "cosh d_H = 1 + (|q_: - k_:|^2 + (q_d - k_d)^2)/(2 q_d k_d)",
                                       "",
                                       Space::half_space,
                                       Measure::squared_distance,
                                       "psi",
                                       {{&model, "halfspace"}}};
  static constexpr int values = 2;  // u_d, 1/u_d

  CONELAB_FORMULA static void token(const EmbeddedPoint& place, const double*, double* value) {
    value[0] = place.height;
    value[1] = 1 / place.height;
  }
  template <class N>
  CONELAB_FORMULA static Root<N> half_sinh(N z) {
    return root_z_1_plus_z(z);
  }
  template <class N>
  CONELAB_FORMULA static N half_distance2(N x, const N* q, const N* k) {
    const N difference = q[0] - k[0];
    return N(0.25) * (x + difference * difference) * q[1] * k[1];
  }
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    return logit(half_distance2(x, q, k), c);
  }
  template <class N>
  CONELAB_FORMULA static N exponential(N x, const N* q, const N* k, const N*) {
    return decay(half_distance2(x, q, k));
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    const N z = half_distance2(x, q, k);
    const auto [d, by_z] = Rate<N>(z, c);
    const N inverse = q[1] * k[1];
    const N by_height = by_z * N(0.5) * (q[0] - k[0]) * inverse;
    const N by_log = by_z * z;  // The factors' order avoids overflow of z times inverse heights.
    return {-(c[0] * d + c[1]),
            by_z * N(0.25) * inverse,
            by_height - by_log * q[1],
            -(by_height + by_log * k[1]),
            {-d, N(-1)}};
  }
};

}  // namespace conelab
