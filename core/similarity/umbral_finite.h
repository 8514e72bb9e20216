// Umbral cones of a point source of light; the objects are balls of radius r.
//
//   logit = +gamma rho(LCA),  potential s(x) = -arcsin(sinh r / sinh rho),  domain rho > r
//
// rho is the distance from the source. The law is that of finite_cone.h, with phi = -s, y = 1 /
// sinh rho and w = y^2 = sin^2 g / sinh^2 r. A common ancestor exists iff g <= pi/2. If there is
// none, rho(LCA) is taken as the largest smaller object radius for which one would exist; with a =
// sinh rho_u and b = sinh rho_v it is
//   rho = arsinh(a b sin theta / sqrt(a^2 + b^2 - 2 a b cos theta)).
// Source: Coneheads, section 3, defines the cones. The closed form is derived here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/similarity/finite_cone.h"

namespace conelab {

struct UmbralShadow {
  static constexpr bool half_turn = true;

  template <class N>
  CONELAB_FORMULA static N beyond(N, N u, N v) {
    return u * v;
  }
  template <class N>
  CONELAB_FORMULA static BeyondSlope<N> beyond_slope(N x, N u, N v) {
    return {u * v, x * v, x * u};
  }
};

struct UmbralFinite : FiniteCone<UmbralShadow> {
  static constexpr SimilarityInfo info{
      "umbral-finite",
      "+gamma rho(LCA) of umbral cones, point light, objects of radius r: sinh rho(LCA) = sinh r / "
      "sin g, g = max(phi_u, phi_v, (phi_u + phi_v + theta)/2), phi = arcsin(sinh r / sinh rho), "
      "theta the angle between u and v; without a common ancestor, g > pi/2, that of the largest "
      "smaller r, sinh rho = a b sin theta / sqrt(a^2 + b^2 - 2 a b cos theta), a = sinh rho_u, b "
      "= "
      "sinh rho_v",
      "Coneheads section 3",
      Space::ball,
      Measure::squared_distance,
      "polar"};
  static constexpr std::array parameters{inverse_temperature, cone_object_radius};

  static double light(const double* p) { return p[1]; }
  static void constant(const double* p, double* c) {
    const double s = Radius::of(p[1]).sinh;
    c[0] = p[0];
    c[1] = 0;
    c[2] = -1 / (s * s);
    c[3] = 0;
  }
  CONELAB_FORMULA static void constant_gradient(const double* p, const double* dc, double* dp) {
    const Radius object = Radius::of(p[1]);
    const double s = object.sinh;
    dp[0] += dc[0];
    dp[1] += 2 * object.cosh / (s * s * s) * dc[2] + dc[3] + dp[parameters.size()];
  }
  static void share(const double* p, double* s) { Source(Radius::of(p[1])).store(s); }
  CONELAB_FORMULA static void token(const EmbeddedPoint& place, const double* p, double* value) {
    const Source object(p + parameters.size());
    const TokenRadius token(place.light_distance, object);
    const double y = 2 * token.decay / token.rise;
    const double coth = (2 - token.rise) / token.rise;
    const double sine = object.sinh * y;
    const double cosine = token.shadow;
    value[0] = std::sqrt(0.5 * (1 + cosine));
    value[1] = 0.5 * sine / value[0];
    value[2] = y;
    value[3] = y * y;
    value[4] = cosine > 0 ? -std::min(sine * coth / cosine, double{steepest}) : 0;
    value[5] = cosine > 0 ? std::min(object.cosh * y / cosine, double{steepest}) : 0;
    value[6] = -y * coth;
  }
};

}  // namespace conelab
