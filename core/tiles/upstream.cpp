#include "core/tiles/upstream.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/row_weights.h"

namespace conelab {

std::shared_ptr<const Plan> flowing_plan(const Plan& plan) {
  auto flowing = plan.without_stopped_pairs();
  if (flowing && plan.weights == WeightLaw::softmax_over_queries) {
    misuse("axis=query has no gradients under a mask that stops some of them (found mask {})",
           join(plan.call.masks));
  }
  return flowing;
}

template <class S>
Compute<S> Upstream<S>::delta(std::int64_t b, std::int64_t h, std::int64_t query) const {
  if (plan_->weights == WeightLaw::sigmoid) return unit(b, h, query);
  if (is_midpoint(plan_->aggregate) || plan_->weights != WeightLaw::softmax) return 0;
  const S* upstream = row(b, h, query);
  const S* output = saved_->output.row(b, h, query);
  double sum = 0;
  for (std::int64_t c = 0; c < plan_->extents.value; ++c) {
    sum += static_cast<double>(upstream[c]) * static_cast<double>(output[c]);
  }
  return static_cast<T>(sum);
}

template <class S>
Compute<S> Upstream<S>::scale(std::int64_t b, std::int64_t h, std::int64_t query) const {
  return row_scale(scale_law(plan_->weights, plan_->aggregate),
                   *saved_->row_reference.row(b, h, query), *saved_->row_sum.row(b, h, query));
}

template <class S>
Compute<S> Upstream<S>::unit(std::int64_t b, std::int64_t h, std::int64_t query) const {
  if (scale_law(plan_->weights, plan_->aggregate) == plan_->weights) return 1;
  return std::exp(*saved_->lse.row(b, h, query));
}

template <class S>
double Upstream<S>::sink_slope(std::int64_t b, std::int64_t h) const {
  const double sink = plan_->sink(input_->tensors, h);
  if (sink == -std::numeric_limits<double>::infinity()) return 0;
  double sum = 0;
  for (std::int64_t i = 0; i < plan_->extents.query; ++i) {
    const double share = std::exp(sink - static_cast<double>(*saved_->row_reference.row(b, h, i)));
    sum -= share * static_cast<double>(scale(b, h, i)) * static_cast<double>(delta(b, h, i));
  }
  return sum;
}

template <class S>
const Compute<S>* Upstream<S>::extended(std::int64_t b, std::int64_t h, std::int64_t first,
                                        int rows, std::ptrdiff_t stride, T* room) const {
  const std::int64_t size = plan_->extents.value;
  if constexpr (std::is_same_v<S, T>) {
    const StridedTensor4<S>& given = input_->output_grad;
    const bool as_is = !is_midpoint(plan_->aggregate) && size == stride && !given.empty() &&
                       given.strides().token == stride;
    if (as_is) return given.row(b, h, first);
  }
  for (int r = 0; r < rows; ++r) {
    const std::int64_t i = first + r;
    const T divisor = is_midpoint(plan_->aggregate) ? *saved_->midpoint_sum.row(b, h, i) : T(1);
    extend_output_grad(plan_->aggregate, row(b, h, i), saved_->output.row(b, h, i), size, divisor,
                       room + r * stride);
  }
  return room;
}

#define CONELAB_UPSTREAM(S) template class Upstream<S>;
CONELAB_EACH_TYPE(CONELAB_UPSTREAM)

}  // namespace conelab
