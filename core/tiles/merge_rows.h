// Joins what attention computed over disjoint slices of the keys (core/base/positions.h).
//
// For each row, with m the reference and l the sum of exp(logit - m) of a slice, and l' = l e^(m -
// M) for the M of the slice with the larger sum of weights:
//
//   softmax        output = sum l' output_slice / sum l'
//   exp, sigmoid   output = sum output_slice
//   einstein       output = sum l' g output_slice / sum l' g, g = midpoint_sum of the slice
//
// and in all cases l = sum l', lse = M + log l. A sink (Plan::sink) is part of the slice with the
// first key, and of its sums. The result equals that of all keys at once but for the roundings of
// the slices and of the sums, and `backward` of each slice takes it as `saved`: the gradients of k
// and v are then those of the slice, and that of q is the sum over the slices.
#pragma once

#include "core/call/plan.h"

namespace conelab {

/// Joins `other` to `rows`. Both are results of `forward` for the same queries and for keys that
/// do not overlap, under `plan` or a plan that differs from it in its keys alone. A row that sees
/// no key of a slice takes nothing from it. Throws misuse for the softmax over queries, whose
/// weights are not normalised by row, for joined heads, and for a structured operator; a failure if
/// the sizes differ. T and From are float or double; sums in double keep the roundings of many
/// slices from adding up.
template <class T, class From>
void merge_rows(const Plan& plan, Forward<T>& rows, const Forward<From>& other);

}  // namespace conelab
