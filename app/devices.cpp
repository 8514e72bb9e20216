#include "app/devices.h"

#include "app/output.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "gpu/cuda_backend.h"

namespace conelab {

void warn_of_unusable_device(const std::string& word) {
  if (word != "auto") return;
  const DeviceState state = cuda_backend().state();
  if (!state.available && !state.driver.empty()) {
    warn("device cuda: {}; computing on the CPU", state.about);
  }
}

Backend* choose_device(const std::string& word, Dtype dtype) {
  if (word == "cpu") return nullptr;
  if (word != "cuda" && word != "auto") unknown_name("device", word, {"cpu", "cuda", "auto"});
  Backend& cuda = cuda_backend();
  const DeviceState state = cuda.state();
  if (word == "auto") return state.available && cuda.takes(dtype) ? &cuda : nullptr;
  if (!state.available) fail("device cuda: {}", state.about);
  if (!cuda.takes(dtype)) {
    fail("device cuda does not compute {}; use --device cpu, or --dtype f32, bf16 or f16",
         dtype_name(dtype));
  }
  return &cuda;
}

}  // namespace conelab
