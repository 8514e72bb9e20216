// What the softmax over queries divides by: of each key the log-sum-exp of its logits.
//
//   L_j = log sum_i exp(logit_ij) over the queries i that see key j,  weight_ij = exp(logit_ij -
//   L_j)
//
// One sweep over the tiles under running maxima, O(n) memory. Rounding L_j moves the weights of its
// column by as much as rounding their logits does.
#pragma once

#include "core/tiles/attention.h"

namespace conelab {

/// [batch x head x n_k x 1] as Forward::column_lse; NaN where a query that sees the key, or the key
/// itself, is not finite. For a plan whose mask over this input is not sparse.
template <class S>
[[nodiscard]] Tensor4<Compute<S>> column_lse(const Plan& plan, const AttentionInput<S>& input,
                                             const Execution& execution);

}  // namespace conelab
