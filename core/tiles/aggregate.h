// Aggregation of values by weights.
//
//   mean      o_i = sum_j w_ij v_j
//   einstein  o_i = sum_j w_ij g_j v_j / sum_j w_ij g_j,  g(v) = 1/sqrt(1 - |v|^2)
//
// S is the type of the tensors; sums are in Compute<S>. The Einstein midpoint in Klein coordinates
// (Gulcehre et al. eq. 3) is computed as the weighted sum of the vectors (g v, g), divided by its
// last number. The *extended value* of v is that vector for the midpoint and v itself for the
// mean, so that the drivers only sum extended values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/tensor.h"
#include "core/base/weights.h"
#include "core/tiles/attention.h"

namespace conelab {

/// Returns the size of an extended value.
[[nodiscard]] inline int aggregate_width(Aggregate aggregate, std::int64_t value_size) {
  return static_cast<int>(value_size) + (is_midpoint(aggregate) ? 1 : 0);
}

/// Returns the leading dimension of extended values: their size, rounded up to whole panels.
[[nodiscard]] inline std::ptrdiff_t value_stride(Aggregate aggregate, std::int64_t value_size,
                                                 int panel) {
  return round_up(std::max(1, aggregate_width(aggregate, value_size)), panel);
}

/// Extends values [n × value_size] to out [n × stride], padded with zeros. For each value
/// that is not finite, its number as a token (first, first + 1, ...) is appended to `non_finite`,
/// and the numbers that are not finite (for the midpoint all) become 0: a weight of 0 times NaN
/// must not reach rows that do not see the value. Throws a failure that names the token if |v| >= 1
/// for the midpoint; `head`, batch * heads + head, is for that message.
template <class S>
void extend_values(const Plan& plan, std::int64_t head, const TokenRows<const S>& values,
                   std::int64_t first, std::ptrdiff_t stride, Compute<S>* out,
                   std::vector<std::int64_t>& non_finite);

/// Sets an output row [value_size] from sums of extended values and the `scale` of the weights. A
/// row without weight gives zeros.
template <class S>
void finish_row(Aggregate aggregate, const Compute<S>* sums, std::int64_t value_size,
                Compute<S> scale, S* output);

/// Sets out to dL/d(sums of extended values) of one row, given dL/d(output) and the output. Both
/// are divided by `divisor`. For the midpoint, the last number is the derivative by the sum of g.
template <class S>
void extend_output_grad(Aggregate aggregate, const S* output_grad, const S* output,
                        std::int64_t value_size, Compute<S> divisor, Compute<S>* out);

/// Sets out to dL/dv of one row, given dL/d(extended value).
template <class S>
void set_value_grad(Aggregate aggregate, const Compute<S>* extended_grad, const S* value,
                    std::int64_t value_size, Compute<S>* out);

}  // namespace conelab
