// One attention call on the CUDA device: it uploads the operands once, launches the kernels and
// downloads their sums.
#pragma once

#include <memory>

#include "core/tiles/backend.h"

namespace conelab::gpu {

/// Prepares the call `plan` on `input` [batch x head x n x d], rounded to `dtype` (f32, f16 or
/// bf16), and uploads its operands. The caller must have checked that there is a device. Throws
/// DeviceMemoryError if the operands do not fit, and a failure for any other CUDA error.
[[nodiscard]] std::unique_ptr<DeviceCall> make_cuda_call(const Plan& plan,
                                                         const AttentionInput<float>& input,
                                                         Dtype dtype, const Execution& execution);

}  // namespace conelab::gpu
