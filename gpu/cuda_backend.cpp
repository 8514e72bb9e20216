#include "gpu/cuda_backend.h"

#include <cuda_runtime_api.h>

#include "core/base/error.h"
#include "gpu/cuda_call.h"
#include "gpu/device_state.h"
#include "gpu/nvml_clocks.h"

namespace conelab {
namespace {

gpu::DriverFacts ask_driver() {
  gpu::DriverFacts facts;
  (void)cudaDriverGetVersion(&facts.driver_version);
  (void)cudaRuntimeGetVersion(&facts.runtime_version);
  if (facts.driver_version == 0) return facts;
  cudaError_t status = cudaGetDeviceCount(&facts.devices);
  facts.driver_too_old = status == cudaErrorInsufficientDriver;
  if (status == cudaErrorNoDevice || facts.driver_too_old) return facts;
  cudaDeviceProp properties;
  if (status == cudaSuccess && facts.devices > 0) {
    status = cudaGetDeviceProperties(&properties, 0);
    if (status == cudaSuccess) {
      facts.device_name = properties.name;
      facts.major = properties.major;
      facts.minor = properties.minor;
      facts.memory_bytes = static_cast<double>(properties.totalGlobalMem);
    }
  }
  if (status != cudaSuccess) facts.error = cudaGetErrorString(status);
  return facts;
}

/// Where the first device stands: CUDA and NVML count devices in different orders.
std::string bus_of_device() {
  char bus[32] = "";
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess) return "";
  return bus;
}

class CudaBackend : public Backend {
 public:
  CudaBackend() : state_(gpu::describe_device(ask_driver())) {}
  DeviceState state() const override { return state_; }
  DeviceClocks clocks() const override {
    return state_.available ? gpu::read_clocks(bus_of_device()) : gpu::unknown_clocks();
  }
  bool takes(Dtype dtype) const override { return dtype != Dtype::f64; }
  std::unique_ptr<DeviceCall> prepare(const Plan& plan, const AttentionInput<float>& input,
                                      Dtype dtype, const Execution& execution) override {
    if (!state_.available) fail("device cuda: {}", state_.about);
    if (!takes(dtype)) {
      fail("device cuda computes f32, f16 and bf16 (found {}); the CPU computes f64",
           dtype_name(dtype));
    }
    return gpu::make_cuda_call(plan, input, dtype, execution);
  }

 private:
  DeviceState state_;
};

}  // namespace

Backend& cuda_backend() {
  static CudaBackend backend;
  return backend;
}

}  // namespace conelab
