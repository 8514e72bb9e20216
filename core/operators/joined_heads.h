// Joins the outputs of heads into one: o = [o_0, ..., o_{heads-1}] P_output^T, head 0's columns
// first (Vaswani et al., section 3.2.2). Without P_output it is the concatenation.
//
// If the plan does not join heads (Plan::joins_heads), all functions return their argument
// unchanged.
#pragma once

#include <map>
#include <string>

#include "core/call/plan.h"

namespace conelab {

/// Joins the outputs [batch × head × n_q × d_v] to one output [batch × 1 × n_q × d_o]. The outputs
/// of the heads are kept in `heads_output`.
template <class T>
[[nodiscard]] Forward<T> join_heads(const Plan& plan,
                                    const std::map<std::string, Array<T>>& tensors,
                                    Forward<T> of_heads);
/// Returns a joined result with the outputs of the heads, [batch × head × n_q × d_v], as its
/// output.
template <class T>
[[nodiscard]] Forward<T> outputs_of_heads(const Plan& plan, Forward<T> joined);
/// Returns dL/d(outputs of the heads), given dL/d(joined output), which is 1 if it is empty.
template <class T>
[[nodiscard]] Tensor4<T> output_grad_of_heads(const Plan& plan,
                                              const std::map<std::string, Array<T>>& tensors,
                                              Tensor4<T> output_grad);
/// Adds dL/dP_output to the result if the input has a P_output.
template <class T>
void add_output_gradient(const Plan& plan, const AttentionInput<T>& input,
                         const Forward<T>& of_heads, Backward<T>& result);

/// Sums over the heads that share one of `heads` heads (shared_head). The result has `heads` heads.
template <class T>
[[nodiscard]] Tensor4<T> sum_over_heads(Tensor4<T> of_heads, std::int64_t heads);

}  // namespace conelab
