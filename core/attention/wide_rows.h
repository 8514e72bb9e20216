// Rows that float32 cannot hold, computed in float64.
//
// Finite tokens may lie so far out that float32 does not hold what their pairs are made of: heights
// e^50 or e^-50, coordinates of 1e10 (`reach`, head.h). Rows that see such a token are NaN in the
// tiles, as those of tokens that are not finite, and take their results from the same call in
// float64. So do rows all of whose logits overflow. Rows whose tokens are not finite themselves,
// and rows that see no key, stay as they are; so does every other row, bit for bit.
#pragma once

#include <cmath>
#include <limits>

#include "core/attention/attention.h"

namespace conelab {

/// Forward::row_sum of a row from float64: its reference says nothing, its weights are
/// exp(logit - lse) of logits in double.
template <class T>
constexpr T wide_row_sum = std::numeric_limits<T>::infinity();

/// Mends such rows of a forward pass. In float64 there is nothing wider: their outputs, which would
/// look like those of masked rows, become NaN.
template <class S>
void mend_wide_rows(const Plan& plan, const AttentionInput<S>& input, const Execution& execution,
                    Forward<S>& result);

/// Whether a row of the forward pass came from float64.
template <class S>
[[nodiscard]] bool has_wide_rows(const Forward<S>& saved);

/// Then mends the gradients: those of keys, values and parameters, to which such rows belong, and
/// of these rows' queries.
template <class S>
void mend_wide_gradients(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                         const Execution& execution, Backward<S>& result);

}  // namespace conelab
