// The wrapper of every call of the CUDA runtime. It throws if the call fails.
#pragma once

#include <cuda_runtime_api.h>

namespace conelab::gpu {

/// Throws unless `status` is success: DeviceMemoryError if the device has too little memory, else a
/// failure that names the CUDA error, the expression, the file and the line.
void check(cudaError_t status, const char* expression, const char* file, int line);

}  // namespace conelab::gpu

/// Evaluates a call of the CUDA runtime and checks its status.
#define CONELAB_CUDA(expression) \
  ::conelab::gpu::check((expression), #expression, __FILE__, __LINE__)
