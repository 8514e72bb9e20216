#include "core/tiles/aggregate.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/finite.h"
#include "core/base/squared_norm.h"
#include "core/tiles/head.h"

namespace conelab {
namespace {

/// Sets row [size + 1] to (g v, g). Returns false if v lies outside the ball.
template <class S>
bool extend_midpoint(const S* v, std::int64_t size, Compute<S>* row) {
  const double norm2 = squared_norm(v, size);
  if (norm2 >= 1) return false;
  const double gamma = 1 / std::sqrt(1 - norm2);
  for (std::int64_t c = 0; c < size; ++c) row[c] = static_cast<Compute<S>>(gamma * v[c]);
  row[size] = static_cast<Compute<S>>(gamma);
  return true;
}

}  // namespace

template <class S>
void extend_values(const Plan& plan, std::int64_t head, const TokenRows<const S>& values,
                   std::int64_t first, std::ptrdiff_t stride, Compute<S>* out,
                   std::vector<std::int64_t>& non_finite) {
  const std::int64_t value_size = values.columns;
  const bool midpoint = is_midpoint(plan.aggregate);
  for (std::int64_t i = 0; i < values.count; ++i) {
    const S* v = values.row(i);
    Compute<S>* row = out + i * stride;
    std::fill(row + value_size, row + stride, Compute<S>(0));
    if (!all_finite(v, value_size)) {
      non_finite.push_back(first + i);
      for (std::int64_t c = 0; c < value_size; ++c) {
        const Compute<S> x = v[c];
        row[c] = midpoint || !std::isfinite(x) ? 0 : x;
      }
    } else if (!midpoint) {
      for (std::int64_t c = 0; c < value_size; ++c) row[c] = v[c];
    } else if (!extend_midpoint(v, value_size, row)) {
      fail("{} lies outside the Klein ball of the Einstein midpoint (|v|^2 = {:.6g})",
           token_name(plan, head, "v", first + i), squared_norm(v, value_size));
    }
  }
}

template <class S>
void finish_row(Aggregate aggregate, const Compute<S>* sums, std::int64_t value_size,
                Compute<S> scale, S* output) {
  using T = Compute<S>;
  const T divisor = is_midpoint(aggregate) ? sums[value_size] : T(1);
  const T factor = is_midpoint(aggregate) ? (divisor == 0 ? T(0) : 1 / divisor) : scale;
  for (std::int64_t c = 0; c < value_size; ++c) output[c] = static_cast<S>(sums[c] * factor);
}

template <class S>
void extend_output_grad(Aggregate aggregate, const S* output_grad, const S* output,
                        std::int64_t value_size, Compute<S> divisor, Compute<S>* out) {
  using T = Compute<S>;
  const T inverse = !is_midpoint(aggregate) ? T(1) : divisor == 0 ? T(0) : 1 / divisor;
  for (std::int64_t c = 0; c < value_size; ++c) out[c] = output_grad[c] * inverse;
  if (!is_midpoint(aggregate)) return;
  T along = 0;
  for (std::int64_t c = 0; c < value_size; ++c) along += out[c] * output[c];
  out[value_size] = -along;
}

template <class S>
void set_value_grad(Aggregate aggregate, const Compute<S>* extended_grad, const S* value,
                    std::int64_t value_size, Compute<S>* out) {
  double gamma = 1, radial = 0;
  if (is_midpoint(aggregate)) {
    // The extended value is (g v, g), and dg/dv = g^3 v.
    gamma = 1 / std::sqrt(1 - squared_norm(value, value_size));
    double by_gamma = extended_grad[value_size];
    for (std::int64_t c = 0; c < value_size; ++c) by_gamma += extended_grad[c] * value[c];
    radial = by_gamma * gamma * gamma * gamma;
  }
  for (std::int64_t c = 0; c < value_size; ++c) {
    const double along = is_midpoint(aggregate) ? radial * value[c] : 0;
    out[c] = static_cast<Compute<S>>(gamma * extended_grad[c] + along);
  }
}

#define CONELAB_AGGREGATE(S)                                                                      \
  template void extend_values(const Plan&, std::int64_t, const TokenRows<const S>&, std::int64_t, \
                              std::ptrdiff_t, Compute<S>*, std::vector<std::int64_t>&);           \
  template void finish_row(Aggregate, const Compute<S>*, std::int64_t, Compute<S>, S*);           \
  template void extend_output_grad(Aggregate, const S*, const S*, std::int64_t, Compute<S>,       \
                                   Compute<S>*);                                                  \
  template void set_value_grad(Aggregate, const Compute<S>*, const S*, std::int64_t, Compute<S>*);
CONELAB_EACH_TYPE(CONELAB_AGGREGATE)

}  // namespace conelab
