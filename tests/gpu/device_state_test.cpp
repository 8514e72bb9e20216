// What is said about a device for every answer that a driver can give; and the backend as built.
#include "gpu/device_state.h"

#include <gtest/gtest.h>

#include "core/operators/operator.h"
#include "gpu/cuda_backend.h"
#include "tests/helpers/errors.h"

namespace conelab::gpu::tests {
namespace {

DriverFacts good_device() {
  DriverFacts facts;
  facts.driver_version = 13000;
  facts.runtime_version = 13000;
  facts.devices = 1;
  facts.device_name = "NVIDIA H200";
  facts.major = 9;
  facts.memory_bytes = 140.0 * 1024 * 1024 * 1024;
  return facts;
}

TEST(DeviceState, NamesADeviceThatWorks) {
  const DeviceState state = describe_device(good_device());
  EXPECT_TRUE(state.available);
  EXPECT_EQ(state.about, "NVIDIA H200, 140.0 GiB, compute capability 9.0");
  EXPECT_EQ(state.driver, "13.0");
}

TEST(DeviceState, SaysNoDeviceWithoutADriver) {
  DriverFacts facts = good_device();
  facts.driver_version = 0;
  EXPECT_FALSE(describe_device(facts).available);
  EXPECT_EQ(describe_device(facts).about, "no device");
  EXPECT_TRUE(describe_device(facts).driver.empty());
}

TEST(DeviceState, SaysNoDeviceWhereTheDriverHasNone) {
  DriverFacts facts = good_device();
  facts.devices = 0;
  EXPECT_EQ(describe_device(facts).about, "no device");
}

TEST(DeviceState, SaysBothVersionsWhereTheDriverIsTooOld) {
  DriverFacts facts = good_device();
  facts.driver_version = 11040;
  facts.driver_too_old = true;
  EXPECT_FALSE(describe_device(facts).available);
  EXPECT_EQ(describe_device(facts).about,
            "the driver is too old (it supports CUDA 11.4, this program needs 13.0)");
}

TEST(DeviceState, RefusesChipsWithoutTheInstructions) {
  DriverFacts facts = good_device();
  facts.major = 7;
  facts.minor = 5;
  EXPECT_FALSE(describe_device(facts).available);
  EXPECT_NE(describe_device(facts).about.find("needs 8.0"), std::string::npos);
}

TEST(DeviceState, PassesOnWhatTheDriverSays) {
  DriverFacts facts = good_device();
  facts.error = "unknown error";
  EXPECT_FALSE(describe_device(facts).available);
  EXPECT_EQ(describe_device(facts).about, "unknown error");
}

TEST(OutOfMemory, SaysHowMuchIsFreeAndWhoCanRunTheCall) {
  const double mib = 1024.0 * 1024;
  EXPECT_EQ(out_of_memory_text(100 * mib, 81920 * mib),
            "device cuda: out of memory (100 MiB of 81920 MiB free); the CPU can run this call");
  EXPECT_EQ(out_of_memory_text(0, 0), "device cuda: out of memory; the CPU can run this call");
}

TEST(CudaBackend, FailsInWordsWithoutADevice) {
  Backend& backend = cuda_backend();
  if (backend.state().available) GTEST_SKIP() << "there is a device: " << backend.state().about;
  AttentionInput<float> input;
  input.query = input.key = input.value = Tensor4<float>({1, 1, 2, 2});
  const Call call = call_from_text("dot");
  const auto plan = resolve(call, check_extents(input));
  EXPECT_EQ(fixtures::failure_of([&] { return backend.prepare(*plan, input, Dtype::f32, {}); }),
            "1: device cuda: " + backend.state().about);
}

TEST(CudaBackend, TakesNoDoubles) { EXPECT_FALSE(cuda_backend().takes(Dtype::f64)); }

}  // namespace
}  // namespace conelab::gpu::tests
