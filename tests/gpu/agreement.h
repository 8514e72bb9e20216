// Compares what the emulated kernels compute with the reference and with the CPU.
#pragma once

#include <gtest/gtest.h>

#include "tests/core/tiles/cases.h"
#include "tests/gpu/emulate.h"

namespace conelab::gpu::tests {

/// Expects the same gradients of tokens, numbers and tensors.
template <class N>
void expect_gradients(const Backward<N>& found, const Backward<double>& expected,
                      double tolerance) {
  using conelab::tests::difference;
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

}  // namespace conelab::gpu::tests
