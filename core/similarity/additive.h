// Additive attention, on mapped tokens.
//
//   logit = x = v_a.tanh(W q + U k)
//
// The token map "additive" (core/token/matrix_maps.cpp) makes W q, U k and v_a the tokens' base
// coordinates; the driver computes x from these, see Measure::tanh_sum.
// Source: Bahdanau et al., Neural Machine Translation by Jointly Learning to Align and Translate,
// section A.1.2.
#pragma once

#include <array>

#include "core/similarity/dot.h"

namespace conelab {

/// The formula is that of the scaled product at scale 1.
struct Additive : Dot {
  static constexpr SimilarityInfo info{
      "additive", "v_a.tanh of the mapped tokens' sum", "", Space::euclidean, Measure::tanh_sum,
      "none"};
  static constexpr std::array<ParameterInfo, 0> parameters{};

  static void constant(const double*, double* c) { c[0] = 1; }
  CONELAB_FORMULA static void constant_gradient(const double*, const double*, double*) {}
};

}  // namespace conelab
