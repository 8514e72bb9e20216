// Shadow cones of a finite source: the law that penumbral-finite, umbral-finite and ganea share.
//
//   logit = +gamma rho(LCA),  rho the distance from the source's centre
//
// A token is a direction and a distance rho from the centre. Its gap angle phi >= 0 is how far its
// potential lies from that of a point at infinity, phi = s(infinity) - s(rho), so that
//   g = max(phi_u, phi_v, (phi_u + phi_v + theta) / 2),   theta the angle between the directions,
// is the gap angle of the LCA, and w = 1/sinh^2 rho of it is
//   w = c1 sin 2g - c2 sin^2 g,
//   rho = asinh(1/sqrt w) = log(1 + 2 (1 + sqrt(1 + w)) / w) / 2.
// Nothing cancels: with f = (phi_u + phi_v) / 2 and x = |u^ - v^|^2 = 4 sin^2(theta/2),
//   sin^2 g = sin^2 f (1 - x/4) + cos^2 f x/4 + sin f cos f sin theta,
//   sin 2g  = sin 2f (1 - x/2) + cos 2f sin theta,
// f from the half angles of both tokens, and one root, sin theta = sqrt(x (1 - x/4)).
// A common ancestor exists iff 2 cot g >= c3; else w is that of the largest smaller source (object)
// that would do, w = numerator / (x (1 - x/4)), sin^2 theta below, see the shadows. Only near theta
// = pi does x lose digits, 1 - x/4 = cos^2(theta/2): there rho -> 0 and its error is at most the
// square root of the rounding. (On AVX-512 1 + ... is rounded before its logarithm is taken: a
// small rho is as exact as a logit of 1.)
//
// The law of every cone family (core/geometry/cone_law.h), our closed form. `Shadow` is what the
// families differ in:
//   half_turn  whether c1 = c3 = 0, a common ancestor exists iff g <= pi/2
//   beyond     the numerator where no common ancestor exists; beyond_slope  its derivatives
#pragma once

#include <cmath>

#include "core/base/parameter.h"
#include "core/similarity/number.h"
#include "core/similarity/radius.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// Derivatives of a numerator with respect to x, y_u, y_v.
template <class N>
struct BeyondSlope {
  N x, query, key;
};

/// The radius rho_0 of a source or an object, as all tokens of a head need it.
struct Source {
  double sinh, cosh;
  double decay;         ///< e^-rho_0
  double rise;          ///< 1 - e^(-2 rho_0)
  double tanh, narrow;  ///< tanh rho_0, 1/cosh rho_0

  static constexpr int size = 6;
  explicit Source(const Radius& r)
      : sinh(r.sinh),
        cosh(r.cosh),
        decay(r.decay),
        rise(r.rise()),
        tanh(r.sinh / r.cosh),
        narrow(1 / r.cosh) {}
  explicit Source(const double* s)
      : sinh(s[0]), cosh(s[1]), decay(s[2]), rise(s[3]), tanh(s[4]), narrow(s[5]) {}
  void store(double* s) const {
    const double numbers[size] = {sinh, cosh, decay, rise, tanh, narrow};
    for (int i = 0; i < size; ++i) s[i] = numbers[i];
  }
};

/// A token at rho = rho_0 + gap, for a source of radius rho_0: by one exponential. Nothing cancels,
/// near the source or far from it, and nothing overflows.
struct TokenRadius {
  double decay;   ///< e^-rho
  double rise;    ///< 1 - e^(-2 rho)
  double shadow;  ///< sqrt(1 - sinh^2 rho_0 / sinh^2 rho)

  TokenRadius(double gap, const Source& source) {
    const bool close = gap < 0.5;
    const double fall = close ? std::expm1(-gap) : 0;
    const double left = close ? 1 + fall : std::exp(-gap);  // e^-gap
    const double near = close ? -fall * (2 + fall) : 1 - left * left;
    decay = source.decay * left;
    rise = source.rise + source.decay * source.decay * near;
    const double far = rise + decay * decay * source.rise;  // 1 - e^(-2 (rho + rho_0))
    shadow = std::sqrt(near * far) / rise;
  }
};

/// The steepest dphi/drho that a token has: on the source it has none, and beside it float32 must
/// hold the number.
constexpr double steepest = 1e30;

template <class Shadow>
struct FiniteCone {
  // cos(phi/2), sin(phi/2), y, own w, dphi/drho, dphi/drho_0 (both 0 on the source), dy/drho.
  static constexpr int values = 7;
  static constexpr int constants = 4;  // gamma, c1, c2, c3
  static constexpr int shared = Source::size;
  static constexpr bool token_slope = true;

  /// A token's potential is rho itself.
  static void token_gradient(const Place&, const double*, double slope, Place& gradient, double*) {
    gradient.height += slope;
  }

  /// What a pair is made of: g of its law, and theta.
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
    // f reaches pi/2: positive, so that opposite tokens on the source do not meet.
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
  /// The numerator of w beyond; its denominator is sin^2 theta.
  template <class N>
  CONELAB_FORMULA static N beyond(N x, const N* q, const N* k) {
    const N difference = q[2] - k[2];
    return difference * difference + x * Shadow::beyond(x, q[2], k[2]);
  }
  /// Of w = numerator / denominator: 2 rho, 0 where the denominator is, and 2 sqrt(d (d + n)).
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
  /// Where the LCA is within the cones: what lies on one ray always is, however it rounds.
  template <class N>
  CONELAB_FORMULA static auto has_ancestor(N x, const Pair<N>& p, const N* c) {
    if constexpr (Shadow::half_turn)
      return N(0) <= p.sin_twice;
    else
      return either(c[3] * p.sin2 <= p.sin_twice, x == N(0));
  }
  /// The least w: its rho, and the slopes that divide by it, stay finite.
  template <class N>
  CONELAB_FORMULA static N least(N x) {
    return N(4) * smallest(x);
  }
  /// w = numerator / denominator of a pair.
  template <class N>
  struct Fraction {
    N numerator, denominator;
    N root;  ///< The denominator's.
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

  /// rho and its slopes with respect to x, rho_u, rho_v, c1, c2 and (in c3's place) rho_0 through
  /// the tokens' gap angles; c3 itself only decides which branch holds.
  template <class N>
  CONELAB_FORMULA static Slope<N, 3> rho_slope(N x, const N* q, const N* k, const N* c) {
    const Pair<N> p = pair(x, q, k);
    const auto inside = has_ancestor(x, p, c);
    // A w below the least does not move: the nearer token's own depth stands for it.
    const N larger = max(least(x), max(q[3], k[3]));
    const N spread = between(p, c);
    const N numerator = max(least(x), select(inside, max(larger, spread), beyond(x, q, k)));
    const N denominator = select(inside, N(1), p.sine2);
    const Depth<N> d = depth(numerator, denominator);
    const N by_denominator = d.root.inverse;
    const N by_numerator = -quotient(denominator * by_denominator, numerator);
    // Inside, w grows with g or is that of the nearer token; ties are shared.
    const N apart = select(spread > larger, N(1), select(spread == larger, N(0.5), N(0)));
    const N by_spread = select(inside, apart * by_numerator, N(0));
    const N by_angle = by_spread * (c[1] * (N(1) - N(2) * p.sin2) - N(0.5) * (c[2] * p.sin_twice));
    const N alone = N(1) - apart;
    const N own = select(q[2] > k[2], alone, select(q[2] == k[2], N(0.5) * alone, N(0)));
    const BeyondSlope<N> beyond = Shadow::beyond_slope(x, q[2], k[2]);
    const N twice = N(2) * (q[2] - k[2]);
    return {
        N(0.5) * d.twice_rho,
        select(inside, N(0.5) * by_angle * p.sine.inverse,
               by_numerator * beyond.x + by_denominator * (N(1) - N(0.5) * x)),
        select(inside, by_angle * q[4] + own, by_numerator * (twice + beyond.query) * q[6]),
        select(inside, by_angle * k[4] + (alone - own), by_numerator * (beyond.key - twice) * k[6]),
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
