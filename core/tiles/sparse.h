// Attention under a mask that lets every query see few keys. Only the pairs that are seen are
// computed, in O(pairs d) time and O(n d) memory.
//
// For each query the keys that it sees are gathered. Products and squared distances are computed in
// double, one by one, and the kernels of a tile with one row do the rest. Results agree with those
// of the tiles to rounding.
#pragma once

#include "core/tiles/attention.h"

namespace conelab {

/// Does the same as attention_forward, for a plan whose mask over this input is sparse.
template <class S>
[[nodiscard]] Forward<S> sparse_forward(const Plan& plan, const AttentionInput<S>& input,
                                        const Execution& run);
/// Does the same as attention_backward. One thread serves each head of each batch element.
template <class S>
[[nodiscard]] Backward<S> sparse_backward(const Plan& plan, const AttentionInput<S>& input,
                                          const Forward<S>& saved, const Execution& run);

}  // namespace conelab
