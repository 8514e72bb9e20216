// The reference: a deliberately naive evaluation of every operator part, the oracle of the tests.
//
//   logit_ij  = similarity(map(q_i), map(k_j)) + bias(j - i - (n_k - n_q)),   -inf where masked
//   weight_ij = exp(logit_ij) / sum_j exp(logit_ij),  with axis = query / sum_i exp(logit_ij)
//               or exp(logit_ij)   or   1 / (1 + exp(-logit_ij))
//   q, k and v are first multiplied by P_query, P_key and P_value, and the outputs of all heads,
//   joined, by P_output, where these are given
//   output_i  = sum_j weight_ij v_j,   or   sum_j weight_ij g_j v_j / sum_j weight_ij g_j,
//               g_j = 1 / sqrt(1 - |v_j|^2)  (Einstein midpoint, Klein coordinates)
//
// Textbook formulas, plain loops, n x n arrays, one thread, no code shared with the fast path. A
// part without a formula of its own here is a failure that names it.
//
// Edges. A masked pair is never evaluated, so nothing of it can leak. A logit of -inf weighs
// nothing. A row without any weight gives zeros and lse = -inf. A NaN logit makes its row NaN
// (under sigmoid weights too, through the sum), with axis = query its column. The Einstein midpoint
// of zero weight is zero.
#pragma once

#include "core/reference/pair_terms.h"
#include "core/reference/problem.h"

namespace conelab::reference {

struct Result {
  Tensor4<Real> output;   ///< [batch × head × n_q × d_v]
  Tensor4<Real> lse;      ///< [batch × head × n_q × 1] as in conelab::Forward.
  Tensor4<Real> weights;  ///< [batch × head × n_q × n_k], 0 where masked.
  Tensor4<Real> logits;   ///< [batch × head × n_q × n_k], -inf where masked.
};

/// The outputs of heads as one [batch × 1 × n_q × d_o]: side by side, times P_output^T where that
/// is given.
[[nodiscard]] Tensor4<Real> joined_heads(const Problem& problem, const Tensor4<Real>& of_heads);

[[nodiscard]] Result evaluate(const Problem& problem);

}  // namespace conelab::reference
