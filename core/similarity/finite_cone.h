// Shadow cones of a finite source: the law that penumbral-finite, umbral-finite and ganea share.
//
//   logit = +gamma rho(LCA),  rho the distance from the centre of the source
//
// A token is given by its direction and its distance rho from the centre. Its shadow angle phi >= 0
// is the difference of its potential from that of a point at infinity, phi = s(infinity) - s(rho).
// The shadow angle of the LCA is
//   g = max(phi_u, phi_v, (phi_u + phi_v + theta) / 2),   theta the angle between the directions.
// From it follow w = 1/sinh^2 rho(LCA) and the distance itself:
//   w = c1 sin 2g - c2 sin^2 g,
//   rho = asinh(1/sqrt w) = log(1 + 2 (1 + sqrt(1 + w)) / w) / 2.
// The evaluation avoids cancellation. With f = (phi_u + phi_v) / 2 and the squared distance of the
// directions, x = |u^ - v^|^2 = 4 sin^2(theta/2),
//   sin^2 g = sin^2 f (1 - x/4) + cos^2 f x/4 + sin f cos f sin theta,
//   sin 2g  = sin 2f (1 - x/2) + cos 2f sin theta,
// where f comes from the half angles of both tokens and sin theta = sqrt(x (1 - x/4)) is the only
// root.
//
// A common ancestor exists iff 2 cot g >= c3. If there is none, w is that of the largest smaller
// source (or object) for which one would exist: w = numerator / sin^2 theta, where the family gives
// the numerator (`Shadow::beyond`).
// Accuracy: only near theta = pi does x lose digits, in 1 - x/4 = cos^2(theta/2). There rho -> 0,
// and its error is at most the square root of the rounding error. On AVX-512 the argument 1 + ...
// is rounded before its logarithm is taken, so that a small rho has the absolute error of a logit
// of 1.
//
// Source: the law of every cone family (core/geometry/cone_law.h), Coneheads section 3; the closed
// form is derived here. The parameter `Shadow` holds what differs between the families:
//   half_turn  is true if c1 = c3 = 0, so that a common ancestor exists iff g <= pi/2;
//   beyond     returns b(x, y_u, y_v) of the numerator (y_u - y_v)^2 + x b of w if there is no
//              common ancestor, and beyond_slope returns the derivatives of x b.
#pragma once

#include <cmath>

#include "core/base/parameter.h"
#include "core/similarity/number.h"
#include "core/similarity/radius.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// Derivatives of x b (see above) with respect to x, y_u and y_v.
template <class N>
struct BeyondSlope {
  N x, query, key;
};

/// Functions of the radius rho_0 of a source or an object, which all tokens of a head use.
struct Source {
  double sinh, cosh;
  double decay;       ///< e^-rho_0
  double rise;        ///< 1 - e^(-2 rho_0)
  double tanh, sech;  ///< tanh rho_0, 1/cosh rho_0

  static constexpr int size = 6;
  CONELAB_FORMULA explicit Source(const Radius& r)
      : sinh(r.sinh),
        cosh(r.cosh),
        decay(r.decay),
        rise(r.rise()),
        tanh(r.sinh / r.cosh),
        sech(1 / r.cosh) {}
  CONELAB_FORMULA explicit Source(const double* s)
      : sinh(s[0]), cosh(s[1]), decay(s[2]), rise(s[3]), tanh(s[4]), sech(s[5]) {}
  void store(double* s) const {
    const double numbers[size] = {sinh, cosh, decay, rise, tanh, sech};
    for (int i = 0; i < size; ++i) s[i] = numbers[i];
  }
};

/// Functions of the radius rho = rho_0 + distance of a token, for a source of radius rho_0 and the
/// token's distance from it. They take one exponential, do not cancel near the source or far from
/// it, and do not overflow.
struct TokenRadius {
  double decay;   ///< e^-rho
  double rise;    ///< 1 - e^(-2 rho)
  double shadow;  ///< sqrt(1 - sinh^2 rho_0 / sinh^2 rho)

  CONELAB_FORMULA TokenRadius(double distance, const Source& source) {
    const bool close = distance < 0.5;
    const double fall = close ? std::expm1(-distance) : 0;
    const double left = close ? 1 + fall : std::exp(-distance);  // e^-distance
    const double near = close ? -fall * (2 + fall) : 1 - left * left;
    decay = source.decay * left;
    rise = source.rise + source.decay * source.decay * near;
    const double far = rise + decay * decay * source.rise;  // 1 - e^(-2 (rho + rho_0))
    shadow = std::sqrt(near * far) / rise;
  }
};

/// The bound of dphi/drho. The derivative is infinite on the source, and near it must fit into
/// float32.
constexpr double steepest = 1e30;

template <class Shadow>
struct FiniteCone {
  // cos(phi/2), sin(phi/2), y, the token's w, dphi/drho, dphi/drho_0 (both 0 on the source),
  // dy/drho.
  static constexpr int values = 7;
  static constexpr int constants = 4;  // gamma, c1, c2, c3
  static constexpr int shared = Source::size;
  static constexpr bool token_slope = true;

  /// The potential of a token is rho itself, so dL/d(rho) is `slope`.
  CONELAB_FORMULA static void token_gradient(const EmbeddedPoint&, const double*, double slope,
                                             EmbeddedPoint& gradient, double*) {
    gradient.height += slope;
  }

  /// The angles of a pair: the shadow angle g of the LCA if it exists, and theta.
  template <class N>
  struct Pair {
    N sin2, sin_twice;  ///< sin^2 g, sin 2g
    Root<N> sine;       ///< sin theta
    N sine2;            ///< sin^2 theta
  };
  template <class N>
  CONELAB_FORMULA static Pair<N> pair(N x, const N* q, const N* k) {
    const N sin_half2 = N(0.25) * x;
    const N cos_half2 = max(N(0), N(1) - sin_half2);
    const N sine2 = x * cos_half2;
    const Root<N> sine = root(sine2);
    const N s = q[1] * k[0] + q[0] * k[1];
    N c = q[0] * k[0] - q[1] * k[1];
    // f may reach pi/2. A positive cosine keeps opposite tokens on the source without an ancestor.
    if constexpr (Shadow::half_turn) c = max(smallest(x), c);
    const N s2 = s * s, c2 = c * c, sc = s * c;
    return {s2 * cos_half2 + c2 * sin_half2 + sc * sine.value,
            sc * (N(2) - x) + (c2 - s2) * sine.value, sine, sine2};
  }
  template <class N>
  CONELAB_FORMULA static N between(const Pair<N>& p, const N* c) {
    if constexpr (Shadow::half_turn) return -c[2] * p.sin2;
    return c[1] * p.sin_twice - c[2] * p.sin2;
  }
  /// Returns the numerator of w if there is no common ancestor; the denominator is sin^2 theta.
  template <class N>
  CONELAB_FORMULA static N beyond(N x, const N* q, const N* k) {
    const N difference = q[2] - k[2];
    return difference * difference + x * Shadow::beyond(x, q[2], k[2]);
  }
  /// For w = n / d: 2 rho, or 0 if d = 0, and the root 2 sqrt(d (d + n)).
  template <class N>
  struct Depth {
    N twice_rho;
    Root<N> root;
  };
  template <class N>
  CONELAB_FORMULA static Depth<N> depth(N numerator, N denominator) {
    const N twice = denominator + denominator;
    const Root<N> both = root(twice * (N(2) * numerator + twice));
    return {log_above_one(quotient(twice + both.value, numerator)), both};
  }
  /// Returns whether a common ancestor exists. Tokens on one ray (x = 0) have one whatever the
  /// rounding.
  template <class N>
  CONELAB_FORMULA static auto has_ancestor(N x, const Pair<N>& p, const N* c) {
    if constexpr (Shadow::half_turn)
      return N(0) <= p.sin_twice;
    else
      return either(c[3] * p.sin2 <= p.sin_twice, x == N(0));
  }
  /// Returns the lower bound of w that keeps rho and the quotients by w finite.
  template <class N>
  CONELAB_FORMULA static N least(N x) {
    return N(4) * smallest(x);
  }
  /// w = numerator / denominator of a pair.
  template <class N>
  struct Fraction {
    N numerator, denominator;
    N root;  ///< The square root of the denominator, sin theta or 1.
  };
  template <class N>
  CONELAB_FORMULA static Fraction<N> fraction(N x, const N* q, const N* k, const N* c) {
    const Pair<N> p = pair(x, q, k);
    const auto inside = has_ancestor(x, p, c);
    const N within = max(max(q[3], k[3]), between(p, c));
    return {max(least(x), select(inside, within, beyond(x, q, k))), select(inside, N(1), p.sine2),
            select(inside, N(1), p.sine.value)};
  }
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    const Fraction<N> w = fraction(x, q, k, c);
    return N(0.5) * c[0] * depth(w.numerator, w.denominator).twice_rho;
  }
  template <class N>
  CONELAB_FORMULA static bool is_closed(const N* c) {
    return c[0] == N(1);
  }
  /// e^rho = e^asinh(1/sqrt w) = (1 + sqrt(1 + w)) / sqrt w.
  template <class N>
  CONELAB_FORMULA static N exponential(N x, const N* q, const N* k, const N* c) {
    const Fraction<N> w = fraction(x, q, k, c);
    const N rise = w.root + sqrt(w.denominator + w.numerator);
    if constexpr (has_over_sqrt<N>)
      return over_sqrt(rise, w.numerator);
    else
      return rise / sqrt(w.numerator);
  }

  /// Returns rho and its derivatives with respect to x, rho_u, rho_v, c1, c2 and, in the place of
  /// c3, rho_0 through the tokens' shadow angles. The derivative with respect to c3 is 0, because
  /// c3 only decides which branch holds.
  template <class N>
  CONELAB_FORMULA static Slope<N, 3> rho_slope(N x, const N* q, const N* k, const N* c) {
    const Pair<N> p = pair(x, q, k);
    const auto inside = has_ancestor(x, p, c);
    // If w is below its lower bound, it is constant; the w of the nearer token is then used.
    const N larger = max(least(x), max(q[3], k[3]));
    const N spread = between(p, c);
    const N numerator = max(least(x), select(inside, max(larger, spread), beyond(x, q, k)));
    const N denominator = select(inside, N(1), p.sine2);
    const Depth<N> d = depth(numerator, denominator);
    const N by_denominator = d.root.inverse;
    const N by_numerator = -quotient(denominator * by_denominator, numerator);
    // With an ancestor, w grows with g or is that of the nearer token. Equal terms share the slope.
    const N distinct = select(spread > larger, N(1), select(spread == larger, N(0.5), N(0)));
    const N by_spread = select(inside, distinct * by_numerator, N(0));
    const N by_angle = by_spread * (c[1] * (N(1) - N(2) * p.sin2) - N(0.5) * (c[2] * p.sin_twice));
    const N nested = N(1) - distinct;
    const N q_larger = select(q[2] > k[2], nested, select(q[2] == k[2], N(0.5) * nested, N(0)));
    const BeyondSlope<N> beyond = Shadow::beyond_slope(x, q[2], k[2]);
    const N twice = N(2) * (q[2] - k[2]);
    return {
        N(0.5) * d.twice_rho,
        select(inside, N(0.5) * by_angle * p.sine.inverse,
               by_numerator * beyond.x + by_denominator * (N(1) - N(0.5) * x)),
        select(inside, by_angle * q[4] + q_larger, by_numerator * (twice + beyond.query) * q[6]),
        select(inside, by_angle * k[4] + (nested - q_larger),
               by_numerator * (beyond.key - twice) * k[6]),
        {by_spread * p.sin_twice, -(by_spread * p.sin2), by_angle * (q[5] + k[5])}};
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
