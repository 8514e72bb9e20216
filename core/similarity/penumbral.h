// Penumbral cones, light a horosphere of height h.
//
//   logit = -gamma height(LCA)
//
// With s(x) = sqrt(h^2 - x_d^2) and p = h - s, D the distance of the base points x_::
//   a common cone exists iff D <= s_u + s_v; then, without cancellation,
//     delta  = max(p_u, p_v, (p_u + p_v + D) / 2),  height^2 = delta (2h - delta),
//   else the lowest light for which one exists, the semicircle through u and v:
//     height^2 = D^2/4 + (a_u + a_v)/2 + (a_u - a_v)^2 / (4 D^2),  a = x_d^2.
// Coneheads eq. 5 and 6 (eq. 7 corrected to the test above). The logit is continuous at the border,
// its slope is not: the <= decides. Ties split equally; at D = 0 the slope of the distance is 0.
#pragma once

#include <array>
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/similarity/number.h"
#include "core/similarity/similarity.h"

namespace conelab {

struct Penumbral {
  static constexpr SimilarityInfo info{
      "penumbral",
      "-gamma height(LCA) of penumbral cones: height^2 = delta (2h - delta), delta = max(p_u, p_v, "
      "(p_u + p_v + D)/2), p = h - s, s = sqrt(h^2 - x_d^2), D = |u_: - v_:|; where D > s_u + s_v "
      "there is no common ancestor and height^2 = D^2/4 + (u_d^2 + v_d^2)/2 + ((u_d^2 - "
      "v_d^2)/(2D))^2 (Coneheads eq. 5-7)",
      Space::half_space,
      Measure::squared_distance,
      "xi",
      &convention,
      "paper"};
  static constexpr std::array parameters{inverse_temperature, cone_height};
  static constexpr int values = 3;     // p, a = x_d^2, s
  static constexpr int constants = 2;  // gamma, h
  static constexpr bool proportional = true;
  static constexpr bool token_slope = true;

  static void constant(const double* p, double* c) {
    c[0] = p[0];
    c[1] = p[1];
  }
  static void constant_gradient(const double*, const double* dc, double* dp) {
    dp[0] += dc[0];
    dp[1] += dc[1];
  }

  static double potential(const Place& place, double h) {
    return std::sqrt(place.gap * (h + place.height));
  }
  static void token(const Place& place, const double* p, double* value) {
    const double s = potential(place, p[1]);
    value[0] = place.height * place.height / (p[1] + s);
    value[1] = place.height * place.height;
    value[2] = s;
  }
  /// p = h - sqrt(gap (h + height)); `slope` is dL/dp. On the horosphere itself it is taken as 0.
  static void token_gradient(const Place& place, const double* p, double slope, Place& gradient,
                             double* dp) {
    const double s = potential(place, p[1]);
    dp[1] += slope;
    if (s == 0) return;
    const double half = slope / (2 * s);
    gradient.height -= half * place.gap;
    gradient.gap -= half * (p[1] + place.height);
    dp[1] -= half * place.gap;
  }

  /// Four times the squared height of the LCA, or of its extension where there is none.
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
  /// The largest P x, below, of which a root may be taken.
  static constexpr float largest_square = 3.4e38F;

  /// Of pairs outside one inverse root, y = 1 / sqrt(P x) with P = 4 x height^2, gives all: height
  /// = P y / 2, dheight/da_u = (x + a_u - a_v) y / 2, and of both these and the height dheight/dx.
  template <class N>
  struct Outside {
    N difference, product, square;  ///< a_u - a_v, P, P x

    CONELAB_FORMULA Outside(N x, const N* q, const N* k) {
      difference = q[1] - k[1];
      // x^2 + 2 (a_u + a_v) x + (a_u - a_v)^2; beyond least_far 4 a_u a_v is a quarter of the
      // square at most.
      const N sum = x + (q[1] + k[1]);
      product = multiply_add(sum, sum, (N(-4) * q[1]) * k[1]);
      square = product * x;
    }
    /// Where P x is no number to take a root of. (Nor where it is too small: x^3 <= P x.)
    CONELAB_FORMULA auto overflows() const { return square > N(largest_square); }
    CONELAB_FORMULA N score(const N* c) const {
      return product * over_sqrt(N(-0.5) * c[0], square);
    }
    /// With respect to x, a_u, a_v, and log gamma.
    CONELAB_FORMULA Slope<N, 1> slope(N x, const N* c) const {
      const N rate = over_sqrt(N(-0.5) * c[0], square);
      const N logit = product * rate;
      const N by_q = (x + difference) * rate;
      const N by_k = (x - difference) * rate;
      const N gamma = max(smallest(x), c[0]);
      return {logit, by_q * (N(1) / gamma) * (by_k * (N(2) / gamma)) * logit, by_q, by_k, {logit}};
    }
  };
  /// Beyond it pairs lie outside, P does not cancel (near the light it would), and P x does not
  /// underflow.
  template <class N>
  CONELAB_FORMULA static N least_far(const N* q, const N* k) {
    const N reach = q[2] + k[2];
    return max(reach * reach, q[1] + k[1]) + N(2.5e-13);
  }

  /// Whether all pairs with x within `least` and `most` have far_score and far_slope; q and k are
  /// the largest values of their tokens.
  template <class N>
  CONELAB_FORMULA static bool is_far(N least, N most, const N* q, const N* k) {
    const N sum = most + (q[1] + k[1]);
    return least > least_far(q, k) && sum * sum * most <= N(largest_square);
  }
  template <class N>
  CONELAB_FORMULA static N far_score(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {  // 9 cycles per 8 pairs in place of 13 (avx512), 6 of 8.4
                                       // (avx2)
      return Outside<N>(x, q, k).score(c);
    }
    return rooted_score(outside_height2(x, q, k), c);
  }
  /// In packs of which not all pairs are alike, what a pair gets depends on that pair alone.
  template <class N>
  CONELAB_FORMULA static N score(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {
      const auto near = x <= least_far(q, k);
      if (all(near)) return rooted_score(height2(x, q, k, c), c);
      const Outside<N> outside(x, q, k);
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

  /// The squared height (in place of a logit) and its slopes with respect to x, p_u, p_v, and h
  /// with p held fixed.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> inside_slope(N x, const N* q, const N* k, const N* c) {
    const N distance = sqrt(x);
    const N larger = max(q[0], k[0]);
    const N between = N(0.5) * (q[0] + k[0] + distance);
    const N delta = max(larger, between);
    const N apart = select(between > larger, N(1), select(between == larger, N(0.5), N(0)));
    const N own = select(q[0] > k[0], N(1), select(q[0] == k[0], N(0.5), N(0)));
    const N q_share = N(0.5) * apart + (N(1) - apart) * own;
    const N rate = N(2) * (c[1] - delta);
    const N by_x = select(x > N(0), N(0.25) * rate * apart / distance, N(0));
    return {delta * (N(2) * c[1] - delta),
            by_x,
            rate * q_share,
            rate * (N(1) - q_share),
            {N(2) * delta}};
  }
  /// The same where no common cone exists, with respect to a in place of p; h does not matter
  /// there.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> outside_slope(N x, const N* q, const N* k) {
    const N difference = q[1] - k[1];
    const N tilt = difference / x;
    const N by_q = N(0.5) + N(0.5) * tilt;
    const N by_k = N(0.5) - N(0.5) * tilt;
    return {
        N(0.25) * (x + N(2) * (q[1] + k[1]) + difference * tilt), by_q * by_k, by_q, by_k, {N(0)}};
  }
  /// A slope by a as one by p: a = p (2h - p), so da/dp = 2s and da/dh = 2p.
  template <class N>
  CONELAB_FORMULA static N far_potential(N slope, const N* token, N* by_constant) {
    const N twice = slope + slope;
    by_constant[1] = by_constant[1] + twice * token[0];
    return twice * token[2];
  }
  /// Slopes by a as slopes by p; the first constant's stays.
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
  /// The logit's from those of the squared height.
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
  /// With respect to x, a_u, a_v, and log gamma: nothing that belongs to one token remains to be
  /// done for a pair.
  template <class N>
  CONELAB_FORMULA static Slope<N, 1> far_slope(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {
      return Outside<N>(x, q, k).slope(x, c);
    }
    const Slope<N, constants> s = rooted_slope(outside_slope(x, q, k), c);
    return {s.logit, s.x, s.query, s.key, {s.logit}};
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N* q, const N* k, const N* c) {
    if constexpr (has_over_sqrt<N>) {
      const auto near = x <= least_far(q, k);
      if (all(near)) return rooted_slope(height2_slope(x, q, k, c), c);
      const Outside<N> outside(x, q, k);
      Slope<N, constants> apart = by_p(outside.slope(x, c), q, k);
      apart.constant[0] = apart.constant[0] / c[0];
      if (!any(near) && !may_overflow(outside.square)) return apart;
      const Slope<N, constants> rooted = rooted_slope(height2_slope(x, q, k, c), c);
      return select(either(near, outside.overflows()), rooted, apart);
    }
    return rooted_slope(height2_slope(x, q, k, c), c);
  }
};

}  // namespace conelab
