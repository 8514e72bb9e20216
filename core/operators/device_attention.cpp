#include "core/operators/device_attention.h"

#include <utility>

#include "core/operators/joined_heads.h"
#include "core/operators/operator.h"
#include "core/tiles/upstream.h"

namespace conelab {

DeviceAttention::DeviceAttention(Backend& backend, const Plan& plan,
                                 const AttentionInput<float>& input, Dtype dtype,
                                 const Execution& execution)
    : backend_(&backend),
      plan_(&plan),
      input_(&input),
      dtype_(dtype),
      execution_(execution),
      flowing_(plan.without_stopped_pairs()) {
  if (input.dropout.share != 0) misuse("dropout of weights is computed on the CPU only");
  if (plan.inner) mapped_ = map_tokens(plan, input);
  call_ = prepare(plan);
}

std::unique_ptr<DeviceCall> DeviceAttention::prepare(const Plan& plan) const {
  if (plan.inner) return backend_->prepare(*plan.inner, mapped_, dtype_, execution_);
  return backend_->prepare(plan, *input_, dtype_, execution_);
}

Forward<float> DeviceAttention::forward() {
  return join_heads(*plan_, input_->tensors, call_->forward());
}

Backward<float> DeviceAttention::backward(const Forward<float>& saved) {
  const Forward<float> of_heads = outputs_of_heads(*plan_, saved);
  // The plan of the flowing pairs must outlive their call.
  const auto call_of = [&](const Plan& plan) -> DeviceCall& {
    if (&plan == plan_) return *call_;
    if (!flowing_call_) flowing_call_ = prepare(*flowing_);
    return *flowing_call_;
  };
  return gradients_by(*plan_, [&](const Plan& plan, double, double) {
    Backward<float> result = call_of(plan).backward(of_heads);
    return plan.inner ? pull_back(plan, *input_, of_heads, std::move(result)) : std::move(result);
  });
}

double DeviceAttention::seconds(Pass pass, bool cold, int runs) {
  const double all = call_->seconds(pass, cold, runs);
  const bool more = pass == Pass::backward && flowing_call_;
  return more ? all + flowing_call_->seconds(pass, cold, runs) : all;
}

double DeviceAttention::device_bytes() const {
  return call_->device_bytes() + (flowing_call_ ? flowing_call_->device_bytes() : 0);
}

}  // namespace conelab
