#include "gpu/cuda_backend.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>

#include "core/base/error.h"
#include "gpu/device_array.h"
#include "gpu/device_state.h"
#include "gpu/hopper/fast.h"
#include "gpu/nvml_clocks.h"
#include "gpu/operands.h"
#include "gpu/portable.h"
#include "gpu/tensor_call.h"

namespace conelab::gpu {
namespace {

Storage storage_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return Storage::f16;
    case Dtype::bf16:
      return Storage::bf16;
    default:
      return Storage::f32;
  }
}

class Event {
 public:
  Event() { CONELAB_CUDA(cudaEventCreate(&event_)); }
  ~Event() { (void)cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { CONELAB_CUDA(cudaEventRecord(event_, nullptr)); }
  [[nodiscard]] double seconds_since(const Event& start) {
    CONELAB_CUDA(cudaEventSynchronize(event_));
    float milliseconds = 0;
    CONELAB_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// One attention call on the device: it uploads the operands once, launches the kernels and
/// downloads their sums.
class CudaCall : public DeviceCall {
 public:
  CudaCall(const Plan& plan, const AttentionInput<float>& input, Dtype dtype,
           const Execution& execution)
      : plan_(plan),
        input_(input),
        execution_(execution),
        operands_(make_operands(plan, input, storage_of(dtype), execution)),
        kernels_(portable_kernels(index())) {
    problem_ = operands_.view([&](const auto& array) { return arena_.upload(array); });
    prepare_fast();
  }

  Forward<float> forward() override {
    ForwardSums<float> sums(operands_.shape);
    reserve_forward(sums);
    launch(Pass::forward);
    CONELAB_CUDA(cudaDeviceSynchronize());
    download(forward_.output, sums.output);
    download(forward_.maximum, sums.maximum);
    download(forward_.sum, sums.sum);
    download(forward_.column_lse, sums.column_lse);
    download(forward_.class_weight, sums.class_weight);
    return finish_forward(plan_, input_, operands_, sums, execution_);
  }

  Backward<float> backward(const Forward<float>& saved) override {
    GradientSums<float> sums(operands_.shape, plan_.similarity->constants);
    reserve_gradient(sums, saved);
    launch(Pass::backward);
    CONELAB_CUDA(cudaDeviceSynchronize());
    download(gradient_.query_base, sums.query_base);
    download(gradient_.query_potential, sums.query_potential);
    download(gradient_.key_base, sums.key_base);
    download(gradient_.key_potential, sums.key_potential);
    download(gradient_.value, sums.value);
    download(gradient_.sums, sums.sums);
    download(gradient_.class_slope, sums.class_slope);
    download(gradient_.class_weight, sums.class_weight);
    if (fast_gradient_.offset_sums != nullptr) sums.by_offset = download_offsets();
    return finish_backward(plan_, input_, operands_, saved, sums, execution_);
  }

  double seconds(Pass pass, bool cold, int runs) override {
    if (pass == Pass::forward && !has_forward_) (void)forward();
    if (pass == Pass::backward && !has_gradient_) (void)backward(forward());
    Event start;
    Event stop;
    if (!cold) {
      start.record();
      for (int i = 0; i < runs; ++i) launch(pass);
      stop.record();
      return stop.seconds_since(start) / runs;
    }
    double total = 0;
    for (int i = 0; i < runs; ++i) {
      flush_cache();
      start.record();
      launch(pass);
      stop.record();
      total += stop.seconds_since(start);
    }
    return total / runs;
  }

  double device_bytes() const override { return static_cast<double>(arena_.bytes()); }

 private:
  const Plan& plan_;
  const AttentionInput<float>& input_;
  Execution execution_;  ///< Of what the host does.
  Operands<float> operands_;
  PortableKernels kernels_;
  DeviceArena arena_;
  Problem<float> problem_;
  Upstream<float> upstream_;
  ForwardResult<float> forward_;
  GradientResult<float> gradient_;
  bool has_forward_ = false, has_gradient_ = false;
  bool fast_ = false;
  hopper::FastProblem fast_problem_;
  hopper::FastGradient fast_gradient_;
  std::vector<double> offset_scale_;
  DeviceBytes flush_;

  [[nodiscard]] int index() const {
    return static_cast<int>(plan_.similarity - similarity_table().data());
  }

  /// Packs the operands a second time where the device and the call suit the fast path.
  void prepare_fast() {
    int major = 0;
    CONELAB_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    const auto host = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
    const Problem<float> call = operands_.view(host);
    const int width = hopper::fast_width(index(), call);
    if (major != 9 || width == 0 || !hopper::fast_constants(index(), call)) return;
    const auto packed = hopper::pack_operands(call, width, plan_.similarity->values);
    fast_problem_ = {problem_,
                     arena_.upload(packed.query),
                     arena_.upload(packed.key),
                     arena_.upload(packed.value),
                     arena_.upload(packed.facts),
                     arena_.upload(hopper::pack_bias(index(), call))};
    sum_by_offset(operands_);
    fast_ = true;
  }

  /// Only the queries' facts and the scale of sums by offset change with the forward pass: the
  /// others are uploaded once.
  void prepare_fast_gradient(const UpstreamArrays<float>& upstream) {
    const auto host = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
    const Problem<float> call = operands_.view(host);
    const auto packed = hopper::pack_gradient_operands(
        call, upstream.view(host), hopper::fast_width(index(), call), plan_.similarity->values);
    offset_scale_ = packed.offset_scale;
    if (has_gradient_) {
      arena_.renew(fast_gradient_.query_facts, packed.query_facts);
      return arena_.renew(fast_gradient_.offset_scale, offset_scale_);
    }
    fast_gradient_ = {problem_,
                      arena_.upload(packed.query),
                      arena_.upload(packed.key),
                      arena_.upload(packed.value),
                      arena_.upload(packed.output_grad),
                      arena_.upload(packed.query_facts),
                      arena_.upload(packed.key_facts),
                      fast_problem_.bias,
                      arena_.reserve<long long>(packed.offset_scale.size() * offset_entries()),
                      arena_.reserve<double>(offset_scale_.size())};
    arena_.renew(fast_gradient_.offset_scale, offset_scale_);
  }
  [[nodiscard]] std::size_t offset_entries() const {
    return static_cast<std::size_t>(
        hopper::offset_entries(problem_.query.count, problem_.key.count));
  }
  [[nodiscard]] std::vector<double> download_offsets() {
    std::vector<long long> sums(offset_scale_.size() * offset_entries());
    download(fast_gradient_.offset_sums, sums);
    download(fast_gradient_.offset_scale, offset_scale_);
    const auto host = [](const auto& array) { return array.empty() ? nullptr : array.data(); };
    return hopper::sums_by_offset(operands_.view(host), sums, offset_scale_);
  }

  /// The output's gradient is the input's own and does not change.
  void renew_upstream(const UpstreamArrays<float>& upstream) {
    arena_.renew(upstream_.reference, upstream.reference);
    arena_.renew(upstream_.inverse_sum, upstream.inverse_sum);
    arena_.renew(upstream_.delta, upstream.delta);
    arena_.renew(upstream_.column_lse, upstream.column_lse);
    arena_.renew(upstream_.unit, upstream.unit);
  }

  void launch(Pass pass) {
    bool launched = true;
    if (pass == Pass::forward && fast_) {
      launched = hopper::launch_forward(index(), 0, fast_problem_, forward_, nullptr);
    } else if (pass == Pass::forward) {
      kernels_.forward(problem_, forward_, nullptr);
    } else if (fast_) {
      launched = hopper::launch_gradient(index(), fast_gradient_, gradient_, nullptr);
    } else {
      kernels_.gradient(problem_, upstream_, gradient_, nullptr);
    }
    if (!launched) fail("cuda: there is no fast kernel of {}", plan_.similarity->info.name);
    CONELAB_CUDA(cudaGetLastError());
  }

  template <class N>
  N* reserve(const std::vector<N>& array) {
    return arena_.reserve<N>(array.size());
  }

  void reserve_forward(ForwardSums<float>& sums) {
    if (has_forward_) return;
    forward_ = sums.view([&](const auto& array) { return reserve(array); });
    has_forward_ = true;
  }

  void reserve_gradient(GradientSums<float>& sums, const Forward<float>& saved) {
    const UpstreamArrays<float> upstream = make_upstream(plan_, input_, operands_, saved);
    if (fast_) prepare_fast_gradient(upstream);
    if (has_gradient_) return renew_upstream(upstream);
    upstream_ = upstream.view([&](const auto& array) { return arena_.upload(array); });
    gradient_ = sums.view([&](const auto& array) { return reserve(array); });
    has_gradient_ = true;
  }

  /// Overwrites more than the second-level cache holds.
  void flush_cache() {
    if (flush_.size() == 0) {
      int bytes = 0;
      CONELAB_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, 0));
      flush_ = DeviceBytes(static_cast<std::size_t>(std::max(bytes, 1 << 20)) * 2);
    }
    CONELAB_CUDA(cudaMemsetAsync(flush_.data(), 0, flush_.size(), nullptr));
  }
};

DriverFacts ask_driver() {
  DriverFacts facts;
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
  CudaBackend() : state_(describe_device(ask_driver())) {}
  DeviceState state() const override { return state_; }
  DeviceClocks clocks() const override {
    return state_.available ? read_clocks(bus_of_device()) : unknown_clocks();
  }
  bool takes(Dtype dtype) const override { return dtype != Dtype::f64; }
  std::unique_ptr<DeviceCall> prepare(const Plan& plan, const AttentionInput<float>& input,
                                      Dtype dtype, const Execution& execution) override {
    if (!state_.available) fail("device cuda: {}", state_.about);
    if (!takes(dtype)) {
      fail("device cuda computes f32, f16 and bf16 (found {}); the CPU computes f64",
           dtype_name(dtype));
    }
    return std::make_unique<CudaCall>(plan, input, dtype, execution);
  }

 private:
  DeviceState state_;
};

}  // namespace

void launch(const TensorPlan<float>& plan, Pass pass, const TensorCall<float>& call, int device,
            void* stream) {
  const PortableKernels kernels = portable_kernels(plan.similarity());
  int before = 0;
  CONELAB_CUDA(cudaGetDevice(&before));
  CONELAB_CUDA(cudaSetDevice(device));
  (pass == Pass::forward ? kernels.tensor_forward : kernels.tensor_gradient)(call, stream);
  const cudaError_t status = cudaGetLastError();
  CONELAB_CUDA(cudaSetDevice(before));
  CONELAB_CUDA(status);
}

}  // namespace conelab::gpu

namespace conelab {

Backend& cuda_backend() {
  static gpu::CudaBackend backend;
  return backend;
}

}  // namespace conelab
