// `conelab bench` on a device, with a stand-in for the device: what a sample says, what the result
// file holds, and what happens where memory is short.
#include <gtest/gtest.h>

#include <cmath>

#include "core/bench/operator_case.h"
#include "core/bench/result.h"
#include "core/operators/operator.h"
#include "tests/helpers/errors.h"

namespace conelab::gpu::tests {
namespace {

/// Computes on the CPU; its clock is a counter. What it says of head 1 is off by a number.
class StandInCall : public DeviceCall {
 public:
  StandInCall(const Plan& plan, const AttentionInput<float>& input, float off)
      : plan_(plan), input_(input), off_(off) {}
  Forward<float> forward() override {
    Forward<float> result = conelab::forward(plan_, input_, {});
    result.output.at(0, 1, 0, 0) += off_;
    return result;
  }
  Backward<float> backward(const Forward<float>& saved) override {
    Backward<float> result = conelab::backward(plan_, input_, saved, {});
    result.value.at(0, 1, 0, 0) += off_;
    return result;
  }
  double seconds(Pass pass, bool cold, int) override {
    return (cold ? 2 : 1) * (pass == Pass::forward ? 0.25 : 0.5);
  }
  double device_bytes() const override { return 4096; }

 private:
  const Plan& plan_;
  const AttentionInput<float>& input_;
  float off_;
};

class StandIn : public Backend {
 public:
  bool available = true, has_memory = true;
  float off = 0;
  DeviceState state() const override {
    return {"cuda", available, available ? "stand-in" : "no device", "13.0", 1e9};
  }
  DeviceClocks clocks() const override { return {1.9e9, 3.2e9, 41, 350, "power cap", 4}; }
  bool takes(Dtype dtype) const override { return dtype != Dtype::f64; }
  std::unique_ptr<DeviceCall> prepare(const Plan& plan, const AttentionInput<float>& input, Dtype,
                                      const Execution&) override {
    if (!has_memory) throw DeviceMemoryError("device cuda: out of memory");
    return std::make_unique<StandInCall>(plan, input, off);
  }
};

Case small_case(const char* pass, const char* dtype = "f32") {
  Case c;
  for (const auto& [name, label] : std::vector<std::pair<const char*, const char*>>{
           {"operator", "penumbral"}, {"pass", pass}, {"device", "cuda"}, {"dtype", dtype}}) {
    c.set(name, label);
  }
  for (const auto& [name, label] : std::vector<std::pair<const char*, std::int64_t>>{
           {"threads", 1}, {"dim", 8}, {"head", 2}, {"seq_len", 40}}) {
    c.set(name, label);
  }
  return c;
}

std::string why_not(StandIn& backend, const Case& c) {
  return fixtures::message_of([&] { return make_device_case(backend, c, 1, 3); });
}

TEST(DeviceCase, SamplesTheDevicesOwnClock) {
  StandIn backend;
  const auto forward = make_device_case(backend, small_case("forward"), 1, 3);
  const Sample warm = forward->sample(false);
  EXPECT_EQ(warm.warm, 0.25);
  EXPECT_TRUE(std::isnan(warm.cold));
  EXPECT_EQ(warm.device_bytes, 4096);
  const auto backward = make_device_case(backend, small_case("backward"), 1, 3);
  EXPECT_EQ(backward->sample(true).cold, 1.0);
}

TEST(DeviceCase, SamplesClocksAndWhatHoldsThemBack) {
  StandIn backend;
  const Sample s = make_device_case(backend, small_case("forward"), 1, 3)->sample(false);
  EXPECT_EQ(s.device_clock, 1.9e9);
  EXPECT_EQ(s.device_memory_clock, 3.2e9);
  EXPECT_EQ(s.device_temperature, 41);
  EXPECT_EQ(s.device_power, 350);
  EXPECT_EQ(s.device_throttle, 4);
}

TEST(DeviceCase, MeasuresErrorsAgainstFloat64) {
  StandIn backend;
  for (const char* pass : {"forward", "backward"}) {
    const CaseFacts facts = make_device_case(backend, small_case(pass), 1, 3)->facts();
    EXPECT_GT(facts.error, 0) << pass;
    EXPECT_LT(facts.error, 1e-4) << pass;
  }
}

TEST(DeviceCase, AnErrorOfAnyHeadShows) {
  StandIn backend;
  backend.off = 1;
  for (const char* dtype : {"f32", "f16"}) {
    const CaseFacts forward =
        make_device_case(backend, small_case("forward", dtype), 1, 3)->facts();
    EXPECT_NEAR(forward.error, 1, 1e-4) << dtype;
  }
  // Off by one in the output as well, from which gradients are computed.
  EXPECT_GT(make_device_case(backend, small_case("backward"), 1, 3)->facts().error, 0.9);
}

TEST(DeviceCase, SaysWhyItCannotRun) {
  StandIn backend;
  EXPECT_EQ(why_not(backend, small_case("forward", "f64")),
            "skipped: device cuda does not compute f64");
  backend.has_memory = false;
  EXPECT_EQ(why_not(backend, small_case("forward")), "device cuda: out of memory");
  backend.available = false;
  EXPECT_EQ(why_not(backend, small_case("forward")), "skipped: device cuda: no device");
}

BenchResult result_on(const char* device) {
  BenchResult result;
  result.sweep["operator"] = {"penumbral"};
  result.sweep["pass"] = {"forward"};
  result.sweep["device"] = {device};
  result.sweep["seq_len"] = {"40"};
  result.sweep.rounds = 2;
  Sample sample;
  sample.warm = 1;
  sample.device_throttle = 64;
  for (const Case& c : result.sweep.cases()) {
    result.cases.push_back({c, {}, {}, {}, {sample, sample}});
  }
  result.load = result.clock = result.temperature = {0, 0};
  if (device != std::string("cpu")) result.devices = {"cuda: stand-in"};
  return result;
}

const LabelledVariable* throttle_of(const LabelledFile& file) {
  return file.groups.front().second.variable("device_throttle_samples");
}

TEST(BenchFile, HoldsTheDevicesClocksWhereOneWasMeasured) {
  const LabelledFile file = bench_file(result_on("cuda"));
  const LabelledVariable* throttle = throttle_of(file);
  ASSERT_NE(throttle, nullptr);
  EXPECT_EQ(std::get<std::vector<double>>(throttle->data), std::vector<double>({64, 64}));
  EXPECT_EQ(throttle_of(bench_file(result_on("cpu"))), nullptr);
}

}  // namespace
}  // namespace conelab::gpu::tests
