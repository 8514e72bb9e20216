// Penumbral cones of a finite source of light, a ball of radius R.
//
//   logit = +gamma rho(LCA),  potential s(x) = arccos(tanh R / tanh rho),  domain rho > R
//
// rho is the distance from the centre of the source. The law is that of finite_cone.h, with phi =
// arccos(tanh R) - s, y = coth rho - 1 and
//   1/sinh^2 rho = y (2 + y) = sin 2g / sinh R - (1 - 1/sinh^2 R) sin^2 g.
// If there is no common ancestor, rho(LCA) is taken as the distance R' of the geodesic through u
// and v from the centre. In Klein coordinates this geodesic is a chord, hence
//   1/tanh^2 R' = (coth^2 rho_u + coth^2 rho_v - 2 coth rho_u coth rho_v cos theta) / sin^2 theta.
// Source: Coneheads, section 3, defines the cones. The closed form is derived here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/similarity/finite_cone.h"

namespace conelab {

struct PenumbralShadow {
  static constexpr bool half_turn = false;

  static void constant(const Radius& light, double* c) {
    c[1] = 1 / light.sinh;
    c[2] = 1 - 1 / (light.sinh * light.sinh);
    c[3] = 2 * light.sinh;
  }
  /// Returns dL/dR given dL/dc1, dL/dc2 and, in dc[3], the dL/dR that passes through the tokens.
  CONELAB_FORMULA static double constant_gradient(const Radius& light, const double* dc) {
    const double s = light.sinh;
    return light.cosh / (s * s) * (2 * dc[2] / s - dc[1]) + dc[3];
  }
  CONELAB_FORMULA static void token(const EmbeddedPoint& place, const Source& light,
                                    double* value) {
    const TokenRadius token(place.light_distance, light);
    const double t = light.tanh;
    const double sech = light.sech;
    const double y = 2 * token.decay * token.decay / token.rise;
    const double shadow = token.shadow;
    const double sine = sech * shadow;  // sin s
    const double cosine = t * (1 + y);  // cos s
    // cos s - cos(s + phi) = t y; `sum` is 2 sin(s + phi/2), from the half angles of both.
    const double sum = (1 + t) * sine + (1 + cosine) * sech;
    value[1] = t * y * std::sqrt((1 + t) * (1 + cosine)) / sum;
    value[0] = std::sqrt((1 - value[1]) * (1 + value[1]));
    value[2] = y;
    value[3] = y * (2 + y);
    value[4] = sine > 0 ? -std::min(t * y * (2 + y) / sine, double{steepest}) : 0;
    // (1 + y)^2 - shadow^2 = cosh^2 R y (2 + y)
    const double widened = light.cosh * y * (2 + y) / (shadow * (1 + y + shadow));
    value[5] = sine > 0 ? std::min(widened, double{steepest}) : 0;
    value[6] = -y * (2 + y);
  }
  template <class N>
  CONELAB_FORMULA static N beyond(N x, N u, N v) {
    return u + v + u * v + N(0.25) * x;
  }
  template <class N>
  CONELAB_FORMULA static BeyondSlope<N> beyond_slope(N x, N u, N v) {
    return {u + v + u * v + N(0.5) * x, x * (N(1) + v), x * (N(1) + u)};
  }
};

struct PenumbralFinite : FiniteCone<PenumbralShadow> {
  static constexpr SimilarityInfo info{
      "penumbral-finite",
      "+gamma rho(LCA) of penumbral cones, light a ball of radius R: tanh rho(LCA) = tanh R / "
      "cos(arccos(tanh R) - g), g = max(phi_u, phi_v, (phi_u + phi_v + theta)/2), phi = "
      "arccos(tanh R) - arccos(tanh R / tanh rho), theta the angle between u and v; without a "
      "common ancestor, g > arccos(tanh R), the distance of the geodesic uv from the centre, "
      "tanh^2 rho = sin^2 theta / (c_u^2 + c_v^2 - 2 c_u c_v cos theta), c = coth rho",
      "Coneheads section 3",
      Space::ball,
      Measure::squared_distance,
      "polar"};
  static constexpr std::array parameters{inverse_temperature, cone_source_radius};

  static double light(const double* p) { return p[1]; }
  static void constant(const double* p, double* c) {
    c[0] = p[0];
    PenumbralShadow::constant(Radius::of(p[1]), c);
  }
  CONELAB_FORMULA static void constant_gradient(const double* p, const double* dc, double* dp) {
    dp[0] += dc[0];
    dp[1] += PenumbralShadow::constant_gradient(Radius::of(p[1]), dc) + dp[parameters.size()];
  }
  static void share(const double* p, double* s) { Source(Radius::of(p[1])).store(s); }
  CONELAB_FORMULA static void token(const EmbeddedPoint& place, const double* p, double* value) {
    PenumbralShadow::token(place, Source(p + parameters.size()), value);
  }
};

}  // namespace conelab
