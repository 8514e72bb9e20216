// On a device: the kernels against the reference. Skipped, visibly, where there is none.
#include <gtest/gtest.h>

#include <array>

#include "core/base/half.h"
#include "gpu/cuda_backend.h"
#include "tests/gpu/agreement.h"

namespace conelab::gpu::tests {
namespace {

struct Tolerance {
  Dtype dtype;
  double output, gradient;
};

AttentionInput<float> rounded(const AttentionInput<double>& input, Dtype dtype) {
  AttentionInput<float> narrow = convert<float>(input);
  for (auto* t : {&narrow.query, &narrow.key, &narrow.value}) {
    for (float& x : t->owned().data) {
      if (dtype == Dtype::bf16) x = from_bf16(to_bf16(x));
      if (dtype == Dtype::f16) x = from_f16(to_f16(x));
    }
  }
  return narrow;
}

class OnDevice : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    const DeviceState state = cuda_backend().state();
    if (!state.available) GTEST_SKIP() << "cuda: " << state.about;
  }

  static void expect_agreement(const Call& call, const AttentionInput<double>& wide,
                               const Tolerance& tolerance) {
    const AttentionInput<float> input = rounded(wide, tolerance.dtype);
    const auto exact_input = convert<double>(input);
    const auto plan = resolve(call, check_extents(input));
    const auto device = cuda_backend().prepare(*plan, input, tolerance.dtype, {});
    const Forward<float> found = device->forward();
    const auto exact = reference::evaluate(reference::make_problem(call, exact_input));
    EXPECT_LE(difference(found.output, exact.output), tolerance.output);
    EXPECT_LE(difference(found.lse, exact.lse), tolerance.output * 10);
    const Backward<float> gradient = device->backward(found);
    const Forward<double> saved = forward(*plan, exact_input, one_thread());
    const Backward<double> expected = backward(*plan, exact_input, saved, one_thread());
    EXPECT_LE(difference(gradient.query, expected.query), tolerance.gradient) << "query";
    EXPECT_LE(difference(gradient.key, expected.key), tolerance.gradient) << "key";
    EXPECT_LE(difference(gradient.value, expected.value), tolerance.gradient) << "value";
  }
};

TEST_P(OnDevice, AgreesInEveryPart) {
  const std::vector<Parts> parts{{},
                                 {"alibi", {"causal"}, "softmax", "mean", true},
                                 {"hype", {"window", "causal"}, "softmax", "einstein", true},
                                 {"none", {"explicit", "padding"}, "softmax", "mean", false},
                                 {"alibi", {"window"}, "sigmoid", "einstein", true}};
  const Extents extents{2, 3, 70, 131, 33, 17};
  for (const Parts& p : parts) {
    SCOPED_TRACE(p.bias + " " + p.weights + " " + p.aggregate);
    const Call call = make_call(GetParam(), p, extents);
    expect_agreement(call, random_input(call, extents, 5, 0.8), {Dtype::f32, 5e-5, 5e-4});
  }
}

TEST_P(OnDevice, AgreesWhereHeadsShareKeysAndValues) {
  Extents extents{2, 4, 70, 131, 33, 17};
  extents.key_head = extents.value_head = 2;
  const Call call = make_call(GetParam(), {"alibi", {"causal"}, "softmax", "mean", false}, extents);
  const auto input = random_input(call, extents, 6, 0.8);
  expect_agreement(call, input, {Dtype::f32, 5e-5, 5e-4});
  expect_agreement(call, input, {Dtype::bf16, 3e-2, 0.3});
}

TEST_P(OnDevice, AgreesInEveryTypeAndSize) {
  const std::vector<std::array<std::int64_t, 4>> sizes{
      {1, 1, 2, 1}, {64, 64, 64, 64}, {129, 257, 65, 64}, {257, 129, 128, 128}, {1, 1025, 64, 64}};
  std::uint64_t seed = 40;
  for (const auto& [n_q, n_k, d, d_v] : sizes) {
    const Extents extents{1, 2, n_q, n_k, d, d_v};
    SCOPED_TRACE(fmt::format("n_q {} n_k {} d {} d_v {}", n_q, n_k, d, d_v));
    const Parts parts{"none", {seed % 2 == 0 ? "causal" : "full"}, "softmax", "mean", false};
    const Call call = make_call(GetParam(), parts, extents);
    const auto input = random_input(call, extents, ++seed, 4 / std::sqrt(d + 1.0));
    // Sixteen bits: the rounding of points and weights, not of the arithmetic.
    for (const Tolerance& t : {Tolerance{Dtype::f32, 5e-5, 5e-4}, Tolerance{Dtype::bf16, 3e-2, 0.3},
                               Tolerance{Dtype::f16, 5e-3, 5e-2}}) {
      expect_agreement(call, input, t);
    }
  }
}

TEST_P(OnDevice, GivesTheSameBitsTwice) {
  const Extents extents{1, 2, 200, 300, 64, 64};
  const Call call = make_call(GetParam(), {}, extents);
  const auto input = convert<float>(random_input(call, extents, 9, 0.5));
  const auto plan = resolve(call, check_extents(input));
  const auto device = cuda_backend().prepare(*plan, input, Dtype::f32, {});
  const Forward<float> first = device->forward();
  const Backward<float> gradient = device->backward(first);
  EXPECT_EQ(device->forward().output.data, first.output.data);
  const Backward<float> again = device->backward(first);
  EXPECT_EQ(again.query.data, gradient.query.data);
  EXPECT_EQ(again.key.data, gradient.key.data);
  EXPECT_EQ(again.value.data, gradient.value.data);
  EXPECT_EQ(again.parameters, gradient.parameters);
}

/// What the fast path does not take.
class PairsOnDevice : public testing::TestWithParam<std::string> {};

TEST_P(PairsOnDevice, Agree) {
  const DeviceState state = cuda_backend().state();
  if (!state.available) GTEST_SKIP() << "cuda: " << state.about;
  expect_agreement_on(cuda_backend(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Calls, PairsOnDevice, testing::ValuesIn(portable_calls()));
INSTANTIATE_TEST_SUITE_P(Similarities, OnDevice, testing::ValuesIn(conelab::tests::pair_variants()),
                         conelab::tests::variant_name);

}  // namespace
}  // namespace conelab::gpu::tests
