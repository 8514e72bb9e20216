// What the numerical promise is measured against: a call evaluated plainly in the type S of its
// tensors, as a tensor library does that stores every intermediate result in that type.
//
//   x_ij      q_i . k_j, or sum_c (q_ic - k_jc)^2, of the placed tokens
//   weight_ij exp(logit_ij - max_j logit_ij) / sum_j, or sigmoid(logit_ij)
//   dL/dlogit_ij = weight_ij (dL/dweight_ij - dL/doutput_i . output_i), as libraries' fused
//             attention has it; of a sigmoid weight_ij (1 - weight_ij) dL/dweight_ij
//
// Sums are taken in float, term after term; each result is rounded to S. The formula of a
// similarity is that of plain_formulas.h in float. Maps and biases are evaluated in double and
// rounded once, which is at least as exact as any evaluation in S.
#pragma once

#include "core/call/plan.h"
#include "core/operators/operator.h"

namespace conelab::tests {

/// All tensors in the shapes of Forward::output and Backward.
struct Plain {
  Tensor4<double> output, query, key, value;
};

/// S is float, Float16 or Bfloat16.
template <class S>
[[nodiscard]] Plain evaluate_plainly(const Plan& plan, const AttentionInput<S>& input);

}  // namespace conelab::tests
