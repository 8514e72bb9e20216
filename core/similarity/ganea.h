// Ganea's entailment cones in the Poincare ball.
//
//   logit = +gamma rho(LCA),  half-aperture psi(x) = arcsin(K (1 - |x|^2) / |x|),  K > 0
//
// The cones equal the penumbral cones of a ball of light of radius R about the origin, where sinh R
// = 2K. The logit is therefore that of penumbral_finite.h. Domain: points at distance rho > R.
// Source: Ganea et al., Hyperbolic Entailment Cones (2018), eq. 26; Coneheads, section 3.
#pragma once

#include <array>
#include <cmath>

#include "core/base/cone_parameters.h"
#include "core/similarity/penumbral_finite.h"

namespace conelab {

struct Ganea : FiniteCone<PenumbralShadow> {
  static constexpr SimilarityInfo info{
      "ganea",
      "+gamma rho(LCA) of cones of half-aperture arcsin(K (1 - |x|^2)/|x|): penumbral-finite with "
      "sinh R = 2K",
      "Ganea et al. eq. 26; Coneheads section 3",
      Space::ball,
      Measure::squared_distance,
      "polar"};
  static constexpr std::array parameters{inverse_temperature, cone_k};

  static double light(const double* p) { return std::asinh(2 * p[1]); }
  static void constant(const double* p, double* c) {
    c[0] = p[0];
    PenumbralShadow::constant(Radius::of_sinh(2 * p[1]), c);
  }
  CONELAB_FORMULA static void constant_gradient(const double* p, const double* dc, double* dp) {
    dp[0] += dc[0];
    const Radius light = Radius::of_sinh(2 * p[1]);
    const double by_radius = PenumbralShadow::constant_gradient(light, dc) + dp[parameters.size()];
    dp[1] += by_radius * 2 / light.cosh;
  }
  static void share(const double* p, double* s) { Source(Radius::of_sinh(2 * p[1])).store(s); }
  CONELAB_FORMULA static void token(const EmbeddedPoint& place, const double* p, double* value) {
    PenumbralShadow::token(place, Source(p + parameters.size()), value);
  }
};

}  // namespace conelab
