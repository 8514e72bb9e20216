// The one wrapper for calls of the CUDA runtime: a failed call becomes a typed message.
#pragma once

#include <cuda_runtime_api.h>

namespace conelab::gpu {

/// Throws a failure unless `status` is success: DeviceMemoryError in words where memory is short,
/// anything else with the expression and its place.
void check(cudaError_t status, const char* expression, const char* file, int line);

}  // namespace conelab::gpu

#define CONELAB_CUDA(expression) \
  ::conelab::gpu::check((expression), #expression, __FILE__, __LINE__)
