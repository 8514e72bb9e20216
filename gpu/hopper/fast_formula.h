// The formulas of the similarities that have fast kernels, without branches and with few
// instructions for a pair.
//
//   logit = factor · level
//
// The factor belongs to the head: the softmax multiplies it in together with log2 e, by the
// multiply-add that subtracts the reference, and the sums of derivatives are multiplied by it once,
// after the last pair. The level is q·k for dot, a distance for laplacian, and twice the height of
// the lowest common ancestor for cones, which is positive. Where the factor is negative, the
// smallest level of a row is that of its largest logit.
//
// `FastPair<S, N>` holds pairs of similarity S in numbers N, given their measure x, the values of
// the own and of the other token, and the constants of the head (core/similarity). All formulas are
// symmetric in query and key. Its members are
//
//   rate             the factor is rate · c[0]; c[0] > 0, so that its sign is known,
//   level            of every pair,
//   by_x(g)          g dlevel/dx / x_scale, for g = dL/dlogit; wrong at x = 0, where it is 0,
//   by_own(g)        g dlevel/d(potential of the own token), if S::token_slope,
//   by_constant(g)   g dlevel/dc[1] / constant_scale, if S has two constants,
//   x_scale(c), constant_scale(c)   these factors.
//
// A number that is not finite makes the level NaN. The products of penumbral and umbral cones may
// exceed a float in a branch that is not selected.
#pragma once

#include "core/similarity/dot.h"
#include "core/similarity/laplacian.h"
#include "core/similarity/penumbral.h"
#include "core/similarity/umbral.h"
#include "gpu/hopper/lanes.h"
#include "gpu/tile/pair.h"

namespace conelab::gpu::hopper {

template <class S, class N>
struct FastPair;

/// The level is the product.
template <class N>
struct FastPair<Dot, N> {
  static constexpr float rate = 1;
  N level;

  CONELAB_TILE FastPair(N x, const N*, const N*, const float*) : level(x) {}
  CONELAB_TILE static float x_scale(const float*) { return 1; }
  CONELAB_TILE N by_x(N g) const { return g; }
};

/// Returns 1 / sqrt(x), a large number at x = 0.
template <class N>
CONELAB_TILE N inverse_distance(N x) {
  return inverse_root(max(x, N(1.17549435e-38f)));
}

/// The level is the distance.
template <class N>
struct FastPair<Laplacian, N> {
  static constexpr float rate = -1;
  N x, level;

  CONELAB_TILE FastPair(N measure, const N*, const N*, const float*)
      : x(measure), level(root(measure)) {}
  CONELAB_TILE static float x_scale(const float*) { return 0.5f; }
  CONELAB_TILE N by_x(N g) const { return g * inverse_distance(x); }
};

/// The level is max(2 u_d, 2 v_d, D / sinh r + u_d + v_d). The third term counts as the larger one
/// where it equals another.
template <class N>
struct FastPair<Umbral, N> {
  static constexpr float rate = -0.5f;
  N x, own, other, between, level;

  CONELAB_TILE FastPair(N measure, const N* u, const N* v, const float* c)
      : x(measure), own(u[0]), other(v[0]) {
    between = N(c[1]) * root(x) + (own + other);
    level = max(own + own, other + other, between);
  }
  CONELAB_TILE static float x_scale(const float* c) { return 0.5f * c[1]; }
  CONELAB_TILE static float constant_scale(const float*) { return 1; }
  CONELAB_TILE N by_x(N g) const {
    return g * select(between >= larger(), inverse_distance(x), N(0.0f));
  }
  CONELAB_TILE N by_own(N g) const {
    return g * select(between >= larger(), N(1.0f), select(own > other, N(2.0f), N(0.0f)));
  }
  CONELAB_TILE N by_constant(N g) const { return by_x(g) * x; }

 private:
  CONELAB_TILE N larger() const { return max(own + own, other + other); }
};

/// With t = max(2 p_u, 2 p_v, p_u + p_v + D), the squared level is t (4h - t) where the tokens have
/// a common ancestor, and x + 2 (a_u + a_v) + ((a_u - a_v) / D)^2 elsewhere. Since p = h - s, the
/// test D <= s_u + s_v is p_u + p_v + D <= 2h. Equal terms as for umbral cones.
template <class N>
struct FastPair<Penumbral, N> {
  static constexpr float rate = -0.5f;
  const N* u;
  const N* v;
  float h;
  N inverse, sum, between, t, tilt, square, level;
  decltype(sum <= sum) inside;

  CONELAB_TILE FastPair(N x, const N* own, const N* other, const float* c)
      : u(own), v(other), h(c[1]), inverse(inverse_distance(x)) {
    sum = u[0] + v[0];
    between = x * inverse + sum;
    t = max(u[0] + u[0], v[0] + v[0], between);
    tilt = (u[1] - v[1]) * inverse;
    inside = between <= N(2 * h);
    square = select(inside, t * (N(4 * h) - t), tilt * tilt + (N(2.0f) * (u[1] + v[1]) + x));
    level = root(square);
  }
  CONELAB_TILE static float x_scale(const float*) { return 0.5f; }
  CONELAB_TILE static float constant_scale(const float*) { return 2; }
  CONELAB_TILE N by_x(N g) const {
    const N share = tilt * inverse;
    const N within = select(between >= larger(), rest() * inverse, N(0.0f));
    return g * inverse_root(square) * select(inside, within, N(1.0f) - share * share);
  }
  CONELAB_TILE N by_own(N g) const {
    const N twice = u[2] + u[2];
    const N share = select(between >= larger(), N(1.0f), select(u[0] > v[0], N(2.0f), N(0.0f)));
    return g * inverse_root(square) *
           select(inside, rest() * share, twice * (tilt * inverse) + twice);
  }
  CONELAB_TILE N by_constant(N g) const {
    return g * inverse_root(square) * select(inside, t, tilt * inverse * (u[0] - v[0]) + sum);
  }

 private:
  CONELAB_TILE N rest() const { return N(2 * h) - t; }
  CONELAB_TILE N larger() const { return max(u[0] + u[0], v[0] + v[0]); }
};

}  // namespace conelab::gpu::hopper
