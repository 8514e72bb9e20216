#include "core/bench/device_case.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/half.h"
#include "core/bench/case_error.h"
#include "core/bench/case_input.h"
#include "core/bench/case_work.h"
#include "core/call/call_text.h"
#include "core/call/plan.h"
#include "core/tiles/attention.h"

namespace conelab {
namespace {

constexpr int most_runs = 10000;

float rounded(double x, Dtype dtype) {
  if (dtype == Dtype::f16) return from_f16(to_f16(x));
  if (dtype == Dtype::bf16) return from_bf16(to_bf16(x));
  return static_cast<float>(x);
}

/// The case's input, each number rounded to what the device holds.
AttentionInput<float> input_of(const Case& c, Dtype dtype, std::int64_t batch, std::uint64_t seed) {
  AttentionInput<float> in = random_input(c, batch, seed);
  for (Tensor4<float>* t : {&in.query, &in.key, &in.value, &in.output_grad}) {
    for (float& x : t->data) x = rounded(x, dtype);
  }
  return in;
}

class DeviceCase : public CaseExecutor {
 public:
  DeviceCase(Backend& backend, const Case& c, std::int64_t batch, std::uint64_t seed)
      : backend_(backend),
        case_(c),
        dtype_(dtype_from_name(c.dtype)),
        input_(input_of(c, dtype_, batch, seed)),
        pass_(c.pass == "backward" ? Pass::backward : Pass::forward) {
    call_ = call_from_text(c.operation);
    plan_ = resolve(call_, check_extents(input_));
    call_ = resolved_call(*plan_);
    device_ = backend.prepare(*plan_, input_, dtype_, {});
    saved_ = device_->forward();
  }

  CaseFacts facts() override {
    const Extents e = check_extents(input_);
    return {pass_flops(case_.pass, e) * plan_->mask(input_).share(),
            compulsory_bytes(case_.pass, input_.query.shape, dtype_size(dtype_)),
            pass_ == Pass::forward ? output_error(call_, input_, saved_.output)
                                   : gradient_error(call_, input_, device_->backward(saved_), {})};
  }

  Sample sample(bool cold) override {
    if (runs_ == 0) calibrate();
    Sample s;
    s.warm = device_->seconds(pass_, false, runs_);
    s.cold = cold ? device_->seconds(pass_, true, 1) : std::numeric_limits<double>::quiet_NaN();
    s.runs = runs_;
    s.device_bytes = device_->device_bytes();
    const DeviceClocks now = backend_.clocks();
    s.device_clock = now.clock;
    s.device_memory_clock = now.memory_clock;
    s.device_temperature = now.temperature;
    s.device_power = now.power;
    s.device_throttle = now.throttle;
    return s;
  }

 private:
  Backend& backend_;
  Case case_;
  Dtype dtype_;
  AttentionInput<float> input_;
  Pass pass_;
  Call call_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<DeviceCall> device_;
  Forward<float> saved_;
  int runs_ = 0;

  void calibrate() {
    (void)device_->seconds(pass_, false, 1);
    const double once = device_->seconds(pass_, false, 1);
    const double runs = std::ceil(sample_seconds / std::max(once, 1e-7));
    runs_ = static_cast<int>(std::clamp(runs, 1.0, static_cast<double>(most_runs)));
  }
};

}  // namespace

std::unique_ptr<CaseExecutor> make_device_case(Backend& backend, const Case& c, std::int64_t batch,
                                               std::uint64_t seed) {
  const DeviceState state = backend.state();
  if (!state.available) fail("skipped: device {}: {}", state.name, state.about);
  if (!backend.takes(dtype_from_name(c.dtype))) {
    fail("skipped: device {} does not compute {}", state.name, c.dtype);
  }
  if (c.pass != "forward" && c.pass != "backward") {
    fail("skipped: device {} times forward and backward by themselves, not {}", state.name, c.pass);
  }
  return std::make_unique<DeviceCase>(backend, c, batch, seed);
}

}  // namespace conelab
