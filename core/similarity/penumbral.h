// Penumbral cones; the source of light is the horoball above the horosphere of height h.
//
//   logit = -gamma height(LCA)
//
// Let s(x) = sqrt(h^2 - x_d^2), p = h - s, and D the distance of the base points x_:. The domain
// is 0 < x_d < h. A common ancestor exists iff D <= s_u + s_v; then
//   delta  = max(p_u, p_v, (p_u + p_v + D) / 2),  height^2 = delta (2h - delta).
// Otherwise the height is that of the lowest horosphere for which a common ancestor exists. It is
// the radius of the semicircle through u and v:
//   height^2 = D^2/4 + (a_u + a_v)/2 + (a_u - a_v)^2 / (4 D^2),  a = x_d^2.
// At the border between both cases the logit is continuous and its derivative is not; the test <=
// decides. Equal terms share the derivative equally. At D = 0 the derivative of D is taken as 0.
// Source: Coneheads, eq. 5 and 6 (and eq. 7, corrected to the test above).
#pragma once

#include <array>
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/similarity/number.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// Holds what all formulas of penumbral cones share: parameters, and the numbers of a token.
struct PenumbralTokens {
  static constexpr std::array parameters{inverse_temperature, cone_height};
  static constexpr int values = 3;     // p, a = x_d^2, s
  static constexpr int constants = 2;  // gamma, h
  static constexpr bool proportional = true;
  static constexpr bool token_slope = true;

  static void constant(const double* p, double* c) {
    c[0] = p[0];
    c[1] = p[1];
  }
  CONELAB_FORMULA static void constant_gradient(const double*, const double* dc, double* dp) {
    dp[0] += dc[0];
    dp[1] += dc[1];
  }

  template <class Place>
  CONELAB_FORMULA static auto potential(const Place& place, double h) {
    return sqrt(place.light_distance * (decltype(place.height)(h) + place.height));
  }
  template <class Place, class N>
  CONELAB_FORMULA static void token(const Place& place, const double* p, N* value) {
    const N s = potential(place, p[1]);
    value[0] = place.height * place.height / (N(p[1]) + s);
    value[1] = place.height * place.height;
    value[2] = s;
  }
  /// Adds the derivatives of p = h - sqrt(light_distance (h + height)), times `slope` = dL/dp. On
  /// the horosphere itself, where the derivative is infinite, it is taken as 0.
  CONELAB_FORMULA static void token_gradient(const EmbeddedPoint& place, const double* p,
                                             double slope, EmbeddedPoint& gradient, double* dp) {
    const double s = potential(place, p[1]);
    dp[1] += slope;
    if (s == 0) return;
    const double half = slope / (2 * s);
    gradient.height -= half * place.light_distance;
    gradient.light_distance -= half * (p[1] + place.height);
    dp[1] -= half * place.light_distance;
  }
};

struct Penumbral : PenumbralTokens {
  static constexpr SimilarityInfo info{
      "penumbral",
      "-gamma height(LCA) of penumbral cones: height^2 = delta (2h - delta), delta = max(p_u, p_v, "
      "(p_u + p_v + D)/2), p = h - s, s = sqrt(h^2 - x_d^2), D = |u_: - v_:|; where D > s_u + s_v "
      "there is no common ancestor and height^2 = D^2/4 + (u_d^2 + v_d^2)/2 + ((u_d^2 - "
      "v_d^2)/(2D))^2",
      "Coneheads eq. 5-7",
      Space::half_space,
      Measure::squared_distance,
      "xi",
      {{&convention, "paper"}, {&lca_depth, "height"}}};

  /// Returns four times the squared height of the LCA.
  template <class N>
  CONELAB_FORMULA static N inside_height2(N x, const N* q, const N* k, const N* c) {
    const N larger = max(q[0], k[0]);
    const N twice_delta = max(larger + larger, q[0] + k[0] + sqrt(x));
    return twice_delta * (N(4) * c[1] - twice_delta);
  }
  template <class N>
  CONELAB_FORMULA static N outside_height2(N x, const N* q, const N* k) {
    const N difference = q[1] - k[1];
    return x + N(2) * (q[1] + k[1]) + difference * (difference / x);
  }
  template <class N>
  CONELAB_FORMULA static N height2(N x, const N* q, const N* k, const N* c) {
    const N reach = q[2] + k[2];
    const auto inside = x <= reach * reach;
    if (!any(inside)) return outside_height2(x, q, k);
    const N within = inside_height2(x, q, k, c);
    if (all(inside)) return within;
    return select(inside, within, outside_height2(x, q, k));
  }
  /// The upper bound of P x (see `NoAncestor`) below which its inverse root is taken.
  static constexpr float largest_square = 3.4e38F;

  /// Computes a pair without a common ancestor from one inverse root, y = 1 / sqrt(P x) where
  /// P = 4 x height^2: height = P y / 2, dheight/da_u = (x + a_u - a_v) y / 2, and dheight/dx
  /// follows from these.
  template <class N>
  struct NoAncestor {
    N difference, product, square;  ///< a_u - a_v, P, P x

    CONELAB_FORMULA NoAncestor(N x, const N* q, const N* k) {
      difference = q[1] - k[1];
      // P = x^2 + 2 (a_u + a_v) x + (a_u - a_v)^2. Beyond least_far the subtracted 4 a_u a_v is at
      // most a quarter of the square.
      const N sum = x + (q[1] + k[1]);
      product = multiply_add(sum, sum, (N(-4) * q[1]) * k[1]);
      square = product * x;
    }
    /// Returns whether P x is too large for its root. It cannot be too small, because x^3 <= P x.
    CONELAB_FORMULA auto overflows() const { return square > N(largest_square); }
    CONELAB_FORMULA N score(const N* c) const {
      return product * over_sqrt(N(-0.5) * c[0], square);
    }
    /// Returns the logit and its derivatives with respect to x, a_u, a_v and log gamma.
    CONELAB_FORMULA Slope<N, 1> slope(N x, const N* c) const {
      const N rate = over_sqrt(N(-0.5) * c[0], square);
      const N logit = product * rate;
      const N by_q = (x + difference) * rate;
      const N by_k = (x - difference) * rate;
      const N gamma = max(smallest(x), c[0]);
      return {logit, by_q * (N(1) / gamma) * (by_k * (N(2) / gamma)) * logit, by_q, by_k, {logit}};
    }
  };
  /// Returns a bound of x above which pairs have no common ancestor, P does not cancel (as it does
  /// near the light) and P x does not underflow.
  template <class N>
  CONELAB_FORMULA static N least_far(const N* q, const N* k) {
    const N reach = q[2] + k[2];
    return max(reach * reach, q[1] + k[1]) + N(2.5e-13);
  }

  /// Returns whether far_score and far_slope hold for every pair with `least` <= x <= `most`. q and
  /// k hold the largest values of the tokens.
  template <class N>
  CONELAB_FORMULA static bool is_far(N least, N most, const N* q, const N* k) {
    const N sum = most + (q[1] + k[1]);
    return least > least_far(q, k) && sum * sum * most <= N(largest_square);
  }
  template <class N>
  CONELAB_FORMULA static N far_score(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {
      return NoAncestor<N>(x, q, k).score(c);
    }
    return rooted_score(outside_height2(x, q, k), c);
  }
  /// Returns the logit. The result for a pair depends on that pair only, also if the pairs of a
  /// pack take different branches.
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {
      const auto near = x <= least_far(q, k);
      if (all(near)) return rooted_score(height2(x, q, k, c), c);
      const NoAncestor<N> outside(x, q, k);
      if (!any(near) && !may_overflow(outside.square)) return outside.score(c);
      const N rooted = rooted_score(height2(x, q, k, c), c);
      return select(either(near, outside.overflows()), rooted, outside.score(c));
    }
    return rooted_score(height2(x, q, k, c), c);
  }
  template <class N>
  CONELAB_FORMULA static N rooted_score(N four_height2, const N* c) {
    return N(-0.5) * c[0] * sqrt(four_height2);
  }

  /// Returns the squared height (in the field `logit`) and its derivatives with respect to x, p_u,
  /// p_v, and h with p held fixed.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> inside_slope(N x, const N* q, const N* k, const N* c) {
    const N distance = sqrt(x);
    const N larger = max(q[0], k[0]);
    const N between = N(0.5) * (q[0] + k[0] + distance);
    const N delta = max(larger, between);
    const N distinct = select(between > larger, N(1), select(between == larger, N(0.5), N(0)));
    const N q_larger = select(q[0] > k[0], N(1), select(q[0] == k[0], N(0.5), N(0)));
    const N q_share = N(0.5) * distinct + (N(1) - distinct) * q_larger;
    const N rate = N(2) * (c[1] - delta);
    const N by_x = select(x > N(0), N(0.25) * rate * distinct / distance, N(0));
    return {delta * (N(2) * c[1] - delta),
            by_x,
            rate * q_share,
            rate * (N(1) - q_share),
            {N(2) * delta}};
  }
  /// Returns the same if there is no common ancestor, with respect to a in place of p. The
  /// derivative with respect to h is 0.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> outside_slope(N x, const N* q, const N* k) {
    const N difference = q[1] - k[1];
    const N tilt = difference / x;
    const N by_q = N(0.5) + N(0.5) * tilt;
    const N by_k = N(0.5) - N(0.5) * tilt;
    return {
        N(0.25) * (x + N(2) * (q[1] + k[1]) + difference * tilt), by_q * by_k, by_q, by_k, {N(0)}};
  }
  /// Converts a derivative with respect to a into one with respect to p: since a = p (2h - p),
  /// da/dp = 2s and da/dh = 2p.
  template <class N>
  CONELAB_FORMULA static N far_potential(N slope, const N* token, N* by_constant) {
    const N twice = slope + slope;
    by_constant[1] = by_constant[1] + twice * token[0];
    return twice * token[2];
  }
  /// Converts the derivatives with respect to a_u, a_v into those with respect to p_u, p_v and h.
  /// The derivative with respect to the first constant is kept.
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> by_p(const Slope<N, 1>& s, const N* q, const N* k) {
    N by_constant[constants] = {s.constant[0], N(0)};
    const N query = far_potential(s.query, q, by_constant);
    const N key = far_potential(s.key, k, by_constant);
    return {s.logit, s.x, query, key, {by_constant[0], by_constant[1]}};
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> height2_slope(N x, const N* q, const N* k, const N* c) {
    const N reach = q[2] + k[2];
    const auto inside = x <= reach * reach;
    if (all(inside)) return inside_slope(x, q, k, c);
    const Slope<N, constants> s = by_p(outside_slope(x, q, k), q, k);
    const Slope<N, 1> out{s.logit, s.x, s.query, s.key, {s.constant[1]}};
    return any(inside) ? select(inside, inside_slope(x, q, k, c), out) : out;
  }
  /// Returns the logit and its derivatives, given those of the squared height.
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> rooted_slope(const Slope<N, 1>& s, const N* c) {
    const N height = sqrt(s.logit);
    const N half_rate = N(-0.5) * c[0] / height;
    return {-(c[0] * height),
            half_rate * s.x,
            half_rate * s.query,
            half_rate * s.key,
            {-height, half_rate * s.constant[0]}};
  }
  /// Returns the logit and its derivatives with respect to x, a_u, a_v and log gamma. The factors
  /// that belong to one token are left to far_potential, which applies them once per token.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> far_slope(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {
      return NoAncestor<N>(x, q, k).slope(x, c);
    }
    const Slope<N, constants> s = rooted_slope(outside_slope(x, q, k), c);
    return {s.logit, s.x, s.query, s.key, {s.logit}};
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {
      const auto near = x <= least_far(q, k);
      if (all(near)) return rooted_slope(height2_slope(x, q, k, c), c);
      const NoAncestor<N> outside(x, q, k);
      Slope<N, constants> far = by_p(outside.slope(x, c), q, k);
      far.constant[0] = far.constant[0] / c[0];
      if (!any(near) && !may_overflow(outside.square)) return far;
      const Slope<N, constants> rooted = rooted_slope(height2_slope(x, q, k, c), c);
      return select(either(near, outside.overflows()), rooted, far);
    }
    return rooted_slope(height2_slope(x, q, k, c), c);
  }
};

}  // namespace conelab
