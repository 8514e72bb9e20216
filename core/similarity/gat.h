// The similarity of graph attention networks, on mapped tokens.
//
//   logit = LeakyReLU(x),  LeakyReLU(x) = x for x > 0, slope x otherwise
//
// x is the product of the mapped tokens (a_1.W q, 1) and (1, a_2.W k), the sum a_1.W q + a_2.W k;
// the token map "gat" (core/token/matrix_maps.cpp) makes them. At x = 0 the derivative is taken as
// `slope`.
// Source: Velickovic et al., Graph Attention Networks, eq. 1 and 3.
#pragma once

#include <array>

#include "core/base/parameter.h"
#include "core/similarity/dot.h"

namespace conelab {

struct Gat : OfMeasureAlone {
  static constexpr SimilarityInfo info{
      "gat", "LeakyReLU of the mapped tokens' product", "", Space::euclidean, Measure::product,
      "none"};
  static constexpr std::array parameters{
      ParameterInfo{"slope", 0.2, Domain::any, true, "slope of LeakyReLU below 0"}};

  template <class N>
  CONELAB_FORMULA static N score(N x, const N*, const N*, const N* c) {
    return select(x > N(0), x, c[0] * x);
  }
  template <class N>
  CONELAB_FORMULA static Slope<N, constants> slope(N x, const N*, const N*, const N* c) {
    const auto above = x > N(0);
    return {select(above, x, c[0] * x),
            select(above, N(1), c[0]),
            N(0),
            N(0),
            {select(above, N(0), x)}};
  }
};

}  // namespace conelab
