// The outputs of heads, joined to one: o = [o_0, ..., o_{heads-1}] P_output^T, head 0's columns
// first (Vaswani et al., section 3.2.2). Without P_output, the concatenation.
//
// All functions leave what they take as it is where the plan does not join heads
// (Plan::joins_heads).
#pragma once

#include <map>
#include <string>

#include "core/call/plan.h"

namespace conelab {

/// The outputs [batch x head x n_q x d_v] of the heads become one [batch x 1 x n_q x d_o], and stay
/// as `heads_output`.
template <class T>
[[nodiscard]] Forward<T> join_heads(const Plan& plan,
                                    const std::map<std::string, Array<T>>& tensors,
                                    Forward<T> of_heads);
/// The inverse: the outputs of the heads again.
template <class T>
[[nodiscard]] Forward<T> heads_apart(const Plan& plan, Forward<T> joined);
/// dL/d(outputs of the heads) from dL/d(joined output); where that is empty, of ones.
template <class T>
[[nodiscard]] Tensor4<T> output_grad_of_heads(const Plan& plan,
                                              const std::map<std::string, Array<T>>& tensors,
                                              Tensor4<T> output_grad);
/// Adds dL/dP_output to the result, where it is given.
template <class T>
void add_output_gradient(const Plan& plan, const AttentionInput<T>& input,
                         const Forward<T>& of_heads, Backward<T>& result);

/// The sum over heads, where tokens of one head stood for those of all: [batch x heads x ...].
template <class T>
[[nodiscard]] Tensor4<T> sum_over_heads(Tensor4<T> of_heads, std::int64_t heads);

}  // namespace conelab
