// Attention on a device: the host applies the maps of tokens and joins heads, the device computes
// what depends on pairs.
#pragma once

#include <memory>

#include "core/tiles/backend.h"

namespace conelab {

class DeviceAttention {
 public:
  /// `plan`, which must be of attention, and `input` must outlive the object. Throws as
  /// Backend::prepare does.
  DeviceAttention(Backend& backend, const Plan& plan, const AttentionInput<float>& input,
                  Dtype dtype, const Execution& execution);

  [[nodiscard]] Forward<float> forward();
  /// `saved` is what `forward` returned. Where a mask stops gradients into some keys, the pairs
  /// through which they flow are computed once more.
  [[nodiscard]] Backward<float> backward(const Forward<float>& saved);
  /// Does the same as DeviceCall::seconds, for everything that the pass runs on the device.
  [[nodiscard]] double seconds(Pass pass, bool cold, int runs);
  /// Returns DeviceCall::device_bytes.
  [[nodiscard]] double device_bytes() const;

 private:
  Backend* backend_;
  const Plan* plan_;
  const AttentionInput<float>* input_;
  Dtype dtype_;
  Execution execution_;
  AttentionInput<float> mapped_;         ///< Empty if the plan has no maps.
  std::shared_ptr<const Plan> flowing_;  ///< Null: gradients flow through all pairs.
  std::unique_ptr<DeviceCall> call_, flowing_call_;

  [[nodiscard]] std::unique_ptr<DeviceCall> prepare(const Plan& plan) const;
};

}  // namespace conelab
