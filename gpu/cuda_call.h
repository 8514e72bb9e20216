// A call on the CUDA device: operands uploaded once, kernels launched, sums brought back.
#pragma once

#include <memory>

#include "core/tiles/backend.h"

namespace conelab::gpu {

/// The caller has made sure that there is a device.
[[nodiscard]] std::unique_ptr<DeviceCall> make_cuda_call(const Plan& plan,
                                                         const AttentionInput<float>& input,
                                                         Dtype dtype, const Execution& execution);

}  // namespace conelab::gpu
