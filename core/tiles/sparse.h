// Attention under a mask that lets every query see few keys: only the pairs that are seen are
// computed, O(pairs d) time and O(n d) memory.
//
// A row gathers its keys, measures them one by one in double, and takes the same formulas as a tile
// of one row. Results agree with those of the tiles to rounding.
#pragma once

#include "core/tiles/attention.h"

namespace conelab {

/// As attention_forward, for a plan whose mask over this input is sparse.
template <class S>
[[nodiscard]] Forward<S> sparse_forward(const Plan& plan, const AttentionInput<S>& input,
                                        const Execution& run);
/// As attention_backward. One thread for each head of each batch element.
template <class S>
[[nodiscard]] Backward<S> sparse_backward(const Plan& plan, const AttentionInput<S>& input,
                                          const Forward<S>& saved, const Execution& run);

}  // namespace conelab
