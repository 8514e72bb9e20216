// Compares what the emulated kernels compute with the reference and with the CPU.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/operators/device_attention.h"
#include "tests/core/tiles/cases.h"
#include "tests/gpu/emulate.h"

namespace conelab::gpu::tests {

// Tests of calls use these helpers of the tests of core.
using conelab::tests::difference;
using conelab::tests::make_call;
using conelab::tests::one_thread;
using conelab::tests::pair_variants;
using conelab::tests::Parts;
using conelab::tests::random_input;
using conelab::tests::Variant;
using conelab::tests::with_key_heads;

/// Expects the same gradients of tokens, numbers and tensors.
template <class N>
void expect_gradients(const Backward<N>& found, const Backward<double>& expected,
                      double tolerance) {
  EXPECT_LE(difference(found.query, expected.query), tolerance) << "query";
  EXPECT_LE(difference(found.key, expected.key), tolerance) << "key";
  EXPECT_LE(difference(found.value, expected.value), tolerance) << "value";
  const auto expect_numbers = [&](const std::string& name, const std::vector<double>& mine,
                                  const std::vector<double>& numbers) {
    ASSERT_EQ(mine.size(), numbers.size()) << name;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(mine[i], numbers[i], tolerance * 10 * std::max(1.0, std::abs(numbers[i])))
          << name << " " << i;
    }
  };
  ASSERT_EQ(found.parameters.size(), expected.parameters.size());
  for (const auto& [key, values] : expected.parameters) {
    expect_numbers(key, found.parameters.at(key), values);
  }
  ASSERT_EQ(found.tensors.size(), expected.tensors.size());
  for (const auto& [key, tensor] : expected.tensors) {
    expect_numbers(key, found.tensors.at(key).data, tensor.data);
  }
}

/// In double: forward against the separately written reference, backward against the CPU's, whose
/// own gradients the tests of core compare with finite differences.
inline void expect_agreement(const Call& call, const AttentionInput<double>& input) {
  using namespace conelab::tests;
  const auto exact = reference::evaluate(reference::make_problem(call, input));
  const Emulation<double> found = emulate(call, input, Storage::f64);
  // Weights e^logit carry the rounding of logits of any size.
  const double tolerance = call.weights == "exp" ? 1e-11 : 1e-12;
  EXPECT_LE(difference(found.forward.output, exact.output), tolerance) << "output";
  const Forward<double> saved = forward(*found.plan, input, one_thread());
  EXPECT_LE(difference(found.forward.lse, saved.lse), 1e-12) << "lse";
  EXPECT_LE(difference(found.forward.column_lse, saved.column_lse), 1e-12) << "column_lse";
  expect_gradients(found.backward, backward(*found.plan, input, saved, one_thread()), 1e-9);
}

/// Calls that need what only the portable path has, one of each kind, for 130 keys.
inline const std::vector<std::string>& portable_calls() {
  static const std::vector<std::string> calls{"additive:bias=alibi",
                                              "dot:axis=query:masks=causal",
                                              "laplacian:masks=graph",
                                              "umbral:masks=explicit:axis=query",
                                              "penumbral:bias=hype:grid=10x13:masks=causal",
                                              "dot:bias=shaw:shaw_k=random:shaw_v=random",
                                              "umbral:bias=t5",
                                              "multiplicative:masks=segment:segment=16"};
  return calls;
}

/// In float, through the maps of tokens: forward against the reference, backward against the CPU's
/// in double. The second run must give the same bits.
inline void expect_agreement_on(Backend& backend, const std::string& text) {
  using namespace conelab::tests;
  SCOPED_TRACE(text);
  const Call call = with_random_tensors(call_from_text(text));
  const auto input = convert<float>(random_input(call, {1, 2, 70, 130, 16, 9}, 3));
  const auto wide = convert<double>(input);
  const auto plan = resolve(call, check_extents(input));
  DeviceAttention device(backend, *plan, input, Dtype::f32, one_thread());
  const Forward<float> found = device.forward();
  const auto exact = reference::evaluate(reference::make_problem(call, wide));
  EXPECT_LE(difference(found.output, exact.output), 2e-5);
  const Backward<float> gradients = device.backward(found);
  const Forward<double> saved = forward(*plan, wide, one_thread());
  expect_gradients(gradients, backward(*plan, wide, saved, one_thread()), 2e-4);
  EXPECT_EQ(device.forward().output.data, found.output.data);
  const Backward<float> again = device.backward(found);
  EXPECT_EQ(again.query.data, gradients.query.data);
  EXPECT_EQ(again.key.data, gradients.key.data);
  EXPECT_EQ(again.value.data, gradients.value.data);
  EXPECT_EQ(again.parameters, gradients.parameters);
  for (const auto& [key, tensor] : gradients.tensors) {
    EXPECT_EQ(again.tensors.at(key).data, tensor.data) << key;
  }
}

}  // namespace conelab::gpu::tests
