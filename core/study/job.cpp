#include "core/study/job.h"

#include "core/base/error.h"
#include "core/base/names.h"

namespace conelab {

Backend* choose_device(const std::string& word, Dtype dtype, const JobContext& context) {
  if (word == "cpu") return nullptr;
  if (word != "cuda" && word != "auto") unknown_name("device", word, {"cpu", "cuda", "auto"});
  const DeviceState state = context.cuda == nullptr ? DeviceState() : context.cuda->state();
  const bool takes = state.available && context.cuda->takes(dtype);
  if (takes) return context.cuda;
  if (word == "auto") return nullptr;
  if (!state.available) fail("device cuda: {}", state.about);
  fail("device cuda does not compute {}; use --device cpu, or --dtype f32, bf16 or f16",
       dtype_name(dtype));
}

void remark_unusable_device(const std::string& word, const JobContext& context) {
  if (word != "auto" || context.cuda == nullptr) return;
  const DeviceState state = context.cuda->state();
  if (!state.available && !state.driver.empty()) {
    context.say("device cuda: {}; computing on the CPU", state.about);
  }
}

}  // namespace conelab
