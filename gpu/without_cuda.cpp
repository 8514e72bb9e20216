// The backend of a program that was built without nvcc.
#include "core/base/error.h"
#include "gpu/cuda_backend.h"
#include "gpu/tensor_call.h"

namespace conelab {
namespace {

class NoCuda : public Backend {
 public:
  DeviceState state() const override {
    return {"cuda", false, "not built (this program was built without CUDA)", "", 0};
  }
  DeviceClocks clocks() const override { return {}; }
  bool takes(Dtype) const override { return false; }
  std::unique_ptr<DeviceCall> prepare(const Plan&, const AttentionInput<float>&, Dtype,
                                      const Execution&) override {
    fail("device cuda: {}", state().about);
  }
};

}  // namespace

Backend& cuda_backend() {
  static NoCuda backend;
  return backend;
}

void gpu::launch(const TensorPlan<float>&, Pass, const TensorCall<float>&, int, void*) {
  fail("device cuda: {}", cuda_backend().state().about);
}

}  // namespace conelab
