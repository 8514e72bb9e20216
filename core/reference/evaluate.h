// The reference: a deliberately naive evaluation of every part of an operator. Tests compare with
// it.
//
//   logit_ij  = similarity(map(q_i), map(k_j)) + bias(j - i - (n_k - n_q)),   -inf if masked;
//               c tanh(logit_ij / c) with soft_cap = c
//   weight_ij = exp(logit_ij) / (sum_j exp(logit_ij) + exp(sink)),  sink = -inf if there is none,
//               or with axis = query / sum_i exp(logit_ij)
//               or exp(logit_ij)   or   1 / (1 + exp(-logit_ij))
//   output_i  = sum_j weight_ij v_j,   or   sum_j weight_ij g_j v_j / sum_j weight_ij g_j,
//               g_j = 1 / sqrt(1 - |v_j|^2)  (Einstein midpoint, Klein coordinates)
//
// q, k and v are first multiplied by P_query, P_key and P_value, and the joined outputs of all
// heads by P_output, if these tensors are given.
//
// It uses textbook formulas, plain loops, n × n arrays and one thread, and shares no code with the
// engine's kernels. It throws a failure that names a part without a formula here.
//
// Edges: a masked pair is never evaluated, so that it cannot affect anything. A logit of -inf has
// weight 0. A row without any weight gives zeros and lse = -inf. A NaN logit makes its row NaN
// (with sigmoid weights the output, through the sum), or its column with axis = query. The Einstein
// midpoint of zero weight is zero.
#pragma once

#include "core/reference/pair_terms.h"
#include "core/reference/problem.h"

namespace conelab::reference {

struct Result {
  Tensor4<Real> output;   ///< [batch × head × n_q × d_v]
  Tensor4<Real> lse;      ///< [batch × head × n_q × 1] See conelab::Forward.
  Tensor4<Real> weights;  ///< [batch × head × n_q × n_k] 0 if masked.
  Tensor4<Real> logits;   ///< [batch × head × n_q × n_k] -inf if masked.
};

/// Returns the outputs of heads as one [batch × 1 × n_q × d_o]: concatenated, and multiplied by
/// P_output^T if that is given.
[[nodiscard]] Tensor4<Real> joined_heads(const Problem& problem, const Tensor4<Real>& of_heads);

[[nodiscard]] Result evaluate(const Problem& problem);

// Derivatives of L = sum(output * output_grad) by finite differences of the reference.
//
//   D(h) = (L(x + h) - L(x - h)) / 2h,   slope = (4 D(h/2) - D(h)) / 3      (Richardson)
//
// The error is of order h^4 at smooth points. At a kink (a tie of a maximum, the border of a cone,
// D = 0) the one-sided differences of second order, (4 L(x ± h) - 3 L(x) - L(x ± 2h)) / ±2h,
// disagree, and so do D(h) and D(h/2).

struct Difference {
  double slope = 0;
  bool smooth = true;  ///< False if there is a kink within the step; `slope` is meaningless then.
};

/// Returns the derivative with respect to `x`, which must be a number inside `problem` (an element
/// of a tensor or of a parameter's list). x is changed and restored.
[[nodiscard]] Difference central_difference(const Problem& problem, Real& x);

}  // namespace conelab::reference
