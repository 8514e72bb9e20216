// Aggregation of values by weights.
//
//   mean      o_i = sum_j w_ij v_j
//   einstein  o_i = sum_j w_ij g_j v_j / sum_j w_ij g_j,  g(v) = 1/sqrt(1 - |v|^2)
//
// S is the type of the tensors' numbers; sums are in Compute<S>. The Einstein midpoint in Klein
// coordinates (Gulcehre et al. eq. 3) is ordinary aggregation of the lifted values (g v, g) and one
// division: the driver knows only ordinary aggregation, of `width` numbers per value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/weights.h"
#include "core/tiles/attention.h"

namespace conelab {

/// d_v of the values that the driver aggregates.
[[nodiscard]] inline int aggregate_width(Aggregate aggregate, std::int64_t value_size) {
  return static_cast<int>(value_size) + (is_midpoint(aggregate) ? 1 : 0);
}

/// The same in whole panels: numbers from one lifted value to the next.
[[nodiscard]] inline std::ptrdiff_t value_stride(Aggregate aggregate, std::int64_t value_size,
                                                 int panel) {
  return round_up(std::max(1, aggregate_width(aggregate, value_size)), panel);
}

/// Values [count × value_size] -> [count × stride] with zero padding; lifted for the midpoint.
/// Values that are not finite become 0 and their tokens (first, first + 1, ...) are appended to
/// `non_finite`: a weight of 0 times NaN must not reach rows that do not see them. Throws a failure
/// that names the token where |v| >= 1 under the midpoint.
template <class S>
void lift_values(Aggregate aggregate, const S* values, std::int64_t value_size, std::int64_t first,
                 std::int64_t count, std::ptrdiff_t stride, Compute<S>* out,
                 std::vector<std::int64_t>& non_finite);

/// A row of lifted sums times `scale` -> an output row; rows without weight give zeros.
template <class S>
void finish_row(Aggregate aggregate, const Compute<S>* sums, std::int64_t value_size,
                Compute<S> scale, S* output);

/// dL/doutput -> dL/d(lifted sums) of one row: divided by `divisor`, the last entry closes it.
template <class S>
void lift_output_grad(Aggregate aggregate, const S* output_grad, const S* output,
                      std::int64_t value_size, Compute<S> divisor, Compute<S>* out);

/// dL/d(lifted value) -> dL/dvalue of one row.
template <class S>
void lower_value_grad(Aggregate aggregate, const Compute<S>* lifted_grad, const S* value,
                      std::int64_t value_size, S* out);

}  // namespace conelab
