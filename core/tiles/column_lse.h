// The normalisation of the softmax over queries: for each key, the log-sum-exp of its logits.
//
//   L_j = log sum_i exp(logit_ij) over the queries i that see key j
//   weight_ij = exp(logit_ij - L_j)
//
// One sweep over the tiles computes it with running maxima, in O(n) memory. Rounding L_j changes
// the weights of its column by as much as rounding their logits does.
#pragma once

#include "core/tiles/attention.h"

namespace conelab {

/// Returns Forward::column_lse [batch × head × n_k × 1]. An entry is NaN if the key, or a query
/// that sees it, is not finite, and -inf if no query sees the key. The mask of the plan over this
/// input must not be sparse.
template <class S>
[[nodiscard]] Tensor4<Compute<S>> column_lse(const Plan& plan, const AttentionInput<S>& input,
                                             const Execution& execution);

}  // namespace conelab
