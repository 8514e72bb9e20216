// Maps whose passes run on a device that is handed over.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/trace/matrix_source.h"

namespace conelab::desktop {
namespace {

/// Computes on the CPU and counts; or has nothing to compute on.
class FakeDevice : public Backend {
 public:
  int calls = 0;
  bool there = true;

  [[nodiscard]] DeviceState state() const override { return {"fake", there, "a fake", "", 0}; }
  [[nodiscard]] DeviceClocks clocks() const override { return {}; }
  [[nodiscard]] bool takes(Dtype) const override { return there; }
  [[nodiscard]] std::unique_ptr<DeviceCall> prepare(const Plan& plan,
                                                    const AttentionInput<float>& input, Dtype,
                                                    const Execution& execution) override {
    if (!there) fail("device fake: not there");
    ++calls;
    return std::make_unique<FakeCall>(plan, input, execution);
  }

 private:
  class FakeCall : public DeviceCall {
   public:
    FakeCall(const Plan& plan, const AttentionInput<float>& input, const Execution& execution)
        : plan_(plan), input_(input), execution_(execution) {}
    [[nodiscard]] Forward<float> forward() override {
      return conelab::forward(plan_, input_, execution_);
    }
    [[nodiscard]] Backward<float> backward(const Forward<float>&) override { return {}; }
    [[nodiscard]] double seconds(Pass, bool, int) override { return 0; }
    [[nodiscard]] double device_bytes() const override { return 0; }

   private:
    const Plan& plan_;
    const AttentionInput<float>& input_;
    const Execution& execution_;
  };
};

std::shared_ptr<HeadInput> small_head(Backend* device) {
  Random random(3);
  auto head = std::make_shared<HeadInput>();
  for (auto* t : {&head->fast.query, &head->fast.key, &head->fast.value}) {
    *t = Tensor4<float>({1, 1, 20, 4});
    for (float& x : t->owned().data) x = static_cast<float>(random.normal());
  }
  head->device = device;
  return head;
}

std::vector<float> weights_of(const std::shared_ptr<HeadInput>& head) {
  const auto source = attention_source(head, plain_call("penumbral"), Map2d::weights);
  source->prepare({});
  std::vector<float> cells(400);
  source->cells({0, 20, 0, 20}, cells.data());
  return cells;
}

TEST(MapDevice, ThePassRunsOnTheDevice) {
  FakeDevice device;
  EXPECT_EQ(weights_of(small_head(&device)), weights_of(small_head(nullptr)));
  EXPECT_EQ(device.calls, 1);
}

TEST(MapDevice, ADeviceThatIsNotThereIsToldByThePass) {
  FakeDevice device;
  device.there = false;
  EXPECT_THROW(weights_of(small_head(&device)), Error);
}

}  // namespace
}  // namespace conelab::desktop
