// Umbral attention in the half-plane (d = 2) in O(n log n d_v) time and O(n d_v) memory, without
// approximation.
//
// With c = 1 / (2 sinh r), a token at x with the height y is the interval [W, U], W = c x - y/2 and
// U = c x + y/2, and the height of the lowest common ancestor of two tokens is the length of the
// hull of their intervals:
//
//   max(y_i, y_j, c |x_i - x_j| + (y_i + y_j)/2) = max(U_i, U_j) - min(W_i, W_j)
//
// Attention is therefore a sum of core/tiles/four_sums.h. With s_ij = w_ij (dO_i.v_j - dO_i.o_i),
// the derivative by the logit,
//
//   dL/dU_i = -gamma sum_{U_j < U_i} s_ij,   dL/dW_i = gamma sum_{W_j > W_i} s_ij
//
// and likewise for keys; pairs with equal ends count half, as in core/similarity/umbral.h.
// dL/dgamma = sum (U dU + W dW) / gamma over all tokens, because heights are homogeneous in U and
// W.
#pragma once

#include <optional>

#include "core/pair/mask.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Returns whether a pass of a call on tensors of S is evaluated by intervals: if the call asks for
/// that, or if it leaves the choice to the program, can be evaluated so, and takes less time so.
/// The times are predicted from nanoseconds of one thread measured on AMD Zen 4, so that the choice
/// depends on nothing but the call.
template <class S>
[[nodiscard]] bool takes_intervals(const Plan& plan, const Mask& mask, Pass pass);

/// Does the same as attention_forward, for a plan that takes intervals. Returns nothing if a number
/// is infinite, NaN or beyond reach (core/tiles/head.h): which rows it affects is then left to the
/// evaluation by pairs.
template <class S>
[[nodiscard]] std::optional<Forward<S>> interval_forward(const Plan& plan,
                                                         const AttentionInput<S>& input,
                                                         const Execution& run);
/// Does the same as attention_backward, under the same conditions.
template <class S>
[[nodiscard]] std::optional<Backward<S>> interval_backward(const Plan& plan,
                                                           const AttentionInput<S>& input,
                                                           const Forward<S>& saved,
                                                           const Execution& run);

}  // namespace conelab
