// Scaled dot product.
//
//   logit = scale * q.k,  scale = 1/sqrt(d) by default
//
// Domain: all real vectors. Source: Vaswani et al., Attention Is All You Need, eq. 1. It is the
// baseline of all five papers.
#pragma once

#include <array>
#include <limits>

#include "core/base/parameter.h"
#include "core/similarity/number.h"
#include "core/similarity/similarity.h"

namespace conelab {

/// Holds what similarities share whose logit depends on the tokens by the measure alone, and whose
/// only parameter is their only constant.
struct OfMeasureAlone {
  static constexpr int values = 0;
  static constexpr int constants = 1;
  static constexpr bool one_pass = true;
  static constexpr bool token_slope = false;

  static void constant(const double* p, double* c) { c[0] = p[0]; }
  CONELAB_FORMULA static void constant_gradient(const double*, const double* dc, double* dp) {
    dp[0] += dc[0];
  }
  CONELAB_FORMULA static void token(const EmbeddedPoint&, const double*, double*) {}
  CONELAB_FORMULA static void token_gradient(const EmbeddedPoint&, const double*, double,
                                             EmbeddedPoint&, double*) {}
};

struct Dot : OfMeasureAlone {
  static constexpr SimilarityInfo info{
      "dot", "scale q.k", "Vaswani et al. eq. 1", Space::euclidean, Measure::product, "none"};
  static constexpr std::array parameters{
      ParameterInfo{"scale", std::numeric_limits<double>::quiet_NaN(), Domain::any, true,
                    "factor of the product", "", "", "1/sqrt(d)"}};
  static constexpr bool proportional = true;

  template <class N>
  CONELAB_FORMULA static N score(N x, const N*, const N*, const N* c) {
    return c[0] * x;
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N*, const N*, const N* c) {
    return {c[0] * x, c[0], N(0), N(0), {x}};
  }
};

}  // namespace conelab
