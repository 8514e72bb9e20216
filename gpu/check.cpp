#include "gpu/check.h"

#include <string_view>

#include "core/tiles/backend.h"
#include "gpu/device_state.h"

namespace conelab::gpu {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

[[noreturn]] void out_of_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  (void)cudaGetLastError();  // Forget the error: the device itself is well.
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) total = 0;
  throw DeviceMemoryError(
      out_of_memory_text(static_cast<double>(free), static_cast<double>(total)));
}

}  // namespace

void check(cudaError_t status, const char* expression, const char* file, int line) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation) out_of_memory();
  fail("device cuda: {} ({}) in {} at {}:{}", cudaGetErrorString(status), cudaGetErrorName(status),
       expression, base_name(file), line);
}

}  // namespace conelab::gpu
