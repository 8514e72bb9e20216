// Rows that float32 cannot hold, computed in float64.
//
// Finite tokens may lie so far out that float32 does not hold what their pairs are made of: heights
// e^50 or e^-50, coordinates of 1e10 (`reach`, head.h). Rows that see such a token are NaN in the
// tiles, as those of tokens that are not finite, and take their results from float64, where the
// blocks of queries that hold them are computed once more. So do rows all of whose logits overflow.
// Rows whose tokens are not finite themselves, and rows that see no key, stay as they are; so does
// every other row of the output, bit for bit.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "core/tiles/attention.h"

namespace conelab {

/// A number in T; what is finite stays so, for an infinite logit is a masked one.
template <class T>
[[nodiscard]] T narrowed(double x) {
  constexpr double most = std::numeric_limits<T>::max();
  return static_cast<T>(std::isfinite(x) ? std::fmax(-most, std::fmin(most, x)) : x);
}

/// Mends such rows of a forward pass, and lists them in its `wide_rows`. What even float64 does not
/// hold, and what it does not in a pass of its own, is NaN: zeros would look masked.
template <class S>
void mend_wide_rows(const Plan& plan, const AttentionInput<S>& input, const Execution& execution,
                    Forward<S>& result);

/// Where there are such rows, mends the gradients: those of their queries, of the keys and values
/// of their heads, and of parameters.
template <class S>
void mend_wide_gradients(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                         const Execution& execution, Backward<S>& result);

/// A forward pass over the blocks of queries that hold one of these rows; others are zero.
/// Defined beside forward.
[[nodiscard]] Forward<double> forward_only(const Plan& plan, const AttentionInput<double>& input,
                                           const std::vector<WideRow>& rows,
                                           const Execution& execution);

}  // namespace conelab
