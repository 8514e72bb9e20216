// Shadow cones of a finite source: the law that penumbral-finite, umbral-finite and ganea share.
//
//   logit = +gamma rho(LCA),  rho the distance from the source's centre
//
// A token is a direction and a distance rho from the centre. Its gap angle phi >= 0 is how far its
// potential lies from that of a point at infinity, phi = s(infinity) - s(rho), so that
//   g = max(phi_u, phi_v, (phi_u + phi_v + theta) / 2),   theta the angle between the directions,
// is the gap angle of the LCA, and w = 1/sinh^2 rho of it is
//   w = sin g (c1 cos g - c2 sin g),     rho = asinh(1/sqrt w) = log1p(2 (1 + sqrt(1 + w)) / w)
//   / 2.
// Nothing cancels: g grows by adding, and half angles turn sums into products,
//   sin(theta/2) = |u^ - v^| / 2.
// A common ancestor exists iff cot g >= c3; else w is that of the largest smaller source (object)
// that would do, w = numerator / (x (1 - x/4)) with x = |u^ - v^|^2, see the shadows. Only near
// theta = pi does x lose digits, 1 - x/4 = cos^2(theta/2): there rho -> 0 and its error is at most
// the square root of the rounding.
//
// The law of every cone family (core/geometry/cone_law.h), our closed form. `Shadow` is what the
// families differ in:
//   constant  c1, c2, c3 of the radius rho_0;  token  the values of a token
//   own       w of a token from its y;         beyond  the numerator where no common ancestor
//   exists
#pragma once

#include <cmath>

#include "core/attention/call.h"
#include "core/similarity/number.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// Derivatives of a numerator with respect to x, y_u, y_v.
template <class N>
struct BeyondSlope {
  N x, query, key;
};

/// sqrt(1 - sinh^2 rho_0 / sinh^2 rho) from `gap` = rho - rho_0, without cancellation or overflow.
inline double shadow_cosine(const Place& place, double rho_0) {
  const double near = -std::expm1(-2 * place.gap);
  const double far = -std::expm1(-2 * (place.height + rho_0));
  return std::sqrt(near * far) / -std::expm1(-2 * place.height);
}

template <class Shadow>
struct FiniteCone {
  // cos(phi/2), sin(phi/2), y, dphi/drho, dphi/drho_0; the derivatives are 0 on the source itself.
  static constexpr int values = 5;
  static constexpr int constants = 4;  // gamma, c1, c2, c3
  static constexpr bool token_slope = true;

  /// A token's potential is rho itself.
  static void token_gradient(const Place&, const double*, double slope, Place& gradient, double*) {
    gradient.height += slope;
  }

  /// What a pair is made of.
  template <class N>
  struct Pair {
    N sin_half, cos_half;  ///< of theta / 2
    N sin_gap, cos_gap;    ///< of (phi_u + phi_v + theta) / 2
    N cos_half2;           ///< 1 - x/4
  };
  template <class N>
  CONELAB_FORMULA static Pair<N> pair(N x, const N* q, const N* k) {
    const N cos_half2 = max(N(0), N(1) - N(0.25) * x);
    const N e = N(0.5) * sqrt(x);
    const N f = sqrt(cos_half2);
    const N cosine = q[0] * k[0] - q[1] * k[1];
    const N sine = q[1] * k[0] + q[0] * k[1];
    return {e, f, sine * f + cosine * e, cosine * f - sine * e, cos_half2};
  }
  template <class N>
  CONELAB_FORMULA static N between(const Pair<N>& p, const N* c) {
    return p.sin_gap * (c[1] * p.cos_gap - c[2] * p.sin_gap);
  }
  /// The numerator of w beyond; its denominator is x (1 - x/4).
  template <class N>
  CONELAB_FORMULA static N beyond(N x, const N* q, const N* k) {
    const N difference = q[2] - k[2];
    return difference * difference + x * Shadow::beyond(x, q[2], k[2]);
  }
  /// rho of w = numerator / denominator; 0 where the denominator is.
  template <class N>
  CONELAB_FORMULA static N depth(N numerator, N denominator) {
    const N root = sqrt(denominator * (denominator + numerator));
    return N(0.5) * log1p(N(2) * (denominator + root) / max(smallest(numerator), numerator));
  }

  template <class N>
  CONELAB_FORMULA static N rho(N x, const N* q, const N* k, const N* c) {
    const Pair<N> p = pair(x, q, k);
    const auto inside = c[3] * p.sin_gap <= p.cos_gap;
    const N within = max(Shadow::own(max(q[2], k[2])), between(p, c));
    if (all(inside)) return depth(within, N(1));
    return depth(select(inside, within, beyond(x, q, k)), select(inside, N(1), x * p.cos_half2));
  }
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    return c[0] * rho(x, q, k, c);
  }

  /// rho and its slopes with respect to x, rho_u, rho_v, and c1, c2 and (in the third place) rho_0
  /// through the tokens' gap angles; c3 only decides which branch holds.
  template <class N>
  CONELAB_FORMULA static Slope<N, 3> inside_slope(const Pair<N>& p, const N* q, const N* k,
                                                  const N* c) {
    const N larger = Shadow::own(max(q[2], k[2]));
    const N spread = between(p, c);
    const N w = max(smallest(larger), max(larger, spread));
    const N apart = select(spread > larger, N(1), select(spread == larger, N(0.5), N(0)));
    const N own = select(q[2] > k[2], N(1), select(q[2] == k[2], N(0.5), N(0)));
    const N by_w = apart * N(-0.5) / (w * sqrt(N(1) + w));
    const N sin_cos = p.sin_gap * p.cos_gap;
    const N sin2 = p.sin_gap * p.sin_gap;
    const N by_angle =
        N(0.5) * by_w * (c[1] * (p.cos_gap * p.cos_gap - sin2) - N(2) * (c[2] * sin_cos));
    const N chord = N(4) * (p.sin_half * p.cos_half);  // 1 / (dtheta/dx)
    return {depth(w, N(1)),
            select(chord > N(0), by_angle / chord, N(0)),
            by_angle * q[3] + (N(1) - apart) * own,
            by_angle * k[3] + (N(1) - apart) * (N(1) - own),
            {by_w * sin_cos, -(by_w * sin2), by_angle * (q[4] + k[4])}};
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, 3> outside_slope(N x, const Pair<N>& p, const N* q, const N* k) {
    const N numerator = max(smallest(x), beyond(x, q, k));
    const N denominator = x * p.cos_half2;
    const N sum = denominator + numerator;
    const N by_numerator = N(-0.5) * sqrt(denominator / sum) / numerator;
    const N by_denominator = select(denominator > N(0), N(0.5) / sqrt(denominator * sum), N(0));
    const BeyondSlope<N> slope = Shadow::beyond_slope(x, q[2], k[2]);
    const N twice = N(2) * (q[2] - k[2]);
    return {depth(numerator, denominator),
            by_numerator * slope.x + by_denominator * (N(1) - N(0.5) * x),
            by_numerator * (twice + slope.query) * Shadow::rate(q[2]),
            by_numerator * (slope.key - twice) * Shadow::rate(k[2]),
            {N(0), N(0), N(0)}};
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, 3> rho_slope(N x, const N* q, const N* k, const N* c) {
    const Pair<N> p = pair(x, q, k);
    const auto inside = c[3] * p.sin_gap <= p.cos_gap;
    if (!any(inside)) return outside_slope(x, p, q, k);
    const Slope<N, 3> in = inside_slope(p, q, k, c);
    if (all(inside)) return in;
    const Slope<N, 3> out = outside_slope(x, p, q, k);
    return {select(inside, in.logit, out.logit),
            select(inside, in.x, out.x),
            select(inside, in.query, out.query),
            select(inside, in.key, out.key),
            {select(inside, in.constant[0], N(0)), select(inside, in.constant[1], N(0)),
             select(inside, in.constant[2], N(0))}};
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    const Slope<N, 3> s = rho_slope(x, q, k, c);
    return {c[0] * s.logit,
            c[0] * s.x,
            c[0] * s.query,
            c[0] * s.key,
            {s.logit, c[0] * s.constant[0], c[0] * s.constant[1], c[0] * s.constant[2]}};
  }
};

}  // namespace conelab
