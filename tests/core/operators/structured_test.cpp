// Every structured operator of the table against the reference: outputs, gradients, what it
// refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/reference/differences.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

/// An operator with one of its masks and, for each of its choices, one of the words.
std::vector<Call> structured_calls() {
  std::vector<Call> calls;
  for (const OperatorRow& row : operator_table().subspan(1)) {
    for (const char* mask : row.info.masks) {
      Call call;
      call.operation = row.info.name;
      call.masks = {mask};
      calls.push_back(with_random_tensors(call));
      calls.push_back(calls.back());
      calls.back().position = "sinusoidal";
      for (const ParameterInfo& info : row.info.parameters) {
        if (info.domain != Domain::choice) continue;
        for (const std::string& word : choice_words(info)) {
          calls.push_back(calls.back());
          calls.back().parameters[info.key] = word;
        }
      }
    }
  }
  return calls;
}

AttentionInput<double> tokens_of(const Call& call, const Extents& e, std::uint64_t seed) {
  Random random(seed);
  AttentionInput<double> input;
  input.query = Tensor4<double>({e.batch, e.head, e.query, e.feature});
  for (double& x : input.query.data) x = random.uniform(-1.5, 1.5);
  input.key = input.value = input.query;
  draw_tensors(call, input, seed);
  // Tensors that may be absent are given here.
  Call all = call;
  for (const ParameterInfo& info : call_parameters(call)) {
    if (info.domain == Domain::tensor) all.parameters[info.key] = "random";
  }
  draw_tensors(all, input, seed);
  return input;
}

template <class T>
double error_of(const Call& call, const AttentionInput<double>& wide) {
  const AttentionInput<T> input = convert<T>(wide);
  const auto expected = reference::evaluate(reference::make_problem(call, convert<double>(input)));
  const auto plan = resolve(call, check_extents(input));
  return difference(forward(*plan, input).output, expected.output);
}

TEST(Structured, AgreesWithTheReference) {
  ASSERT_FALSE(structured_calls().empty());
  for (const Call& call : structured_calls()) {
    SCOPED_TRACE(call_text(call));
    for (const std::int64_t n : {1, 2, 13, 70}) {
      const AttentionInput<double> input = tokens_of(call, {2, 2, n, n, 8, 8}, 5);
      EXPECT_LE(error_of<double>(call, input), 1e-12) << n;
      EXPECT_LE(error_of<float>(call, input), 1e-5) << n;
      EXPECT_LE(error_of<Float16>(call, input), 4e-3) << n;
    }
  }
}

TEST(Structured, HasTheGradientsOfTheReference) {
  using reference::Real;
  for (const Call& call : structured_calls()) {
    SCOPED_TRACE(call_text(call));
    AttentionInput<double> input = tokens_of(call, {1, 2, 7, 7, 8, 8}, 7);
    const auto plan = resolve(call, check_extents(input));
    const Forward<double> saved = forward(*plan, input);
    input.output_grad = saved.output;
    const Backward<double> found = backward(*plan, input, saved);
    reference::Problem problem = reference::make_problem(call, input);
    int compared = 0;
    const auto expect = [&](double slope, Real& x, const std::string& what) {
      const reference::Difference difference = reference::central_difference(problem, x);
      if (!difference.smooth) return;
      ++compared;
      EXPECT_NEAR(slope, difference.slope, 1e-6 * std::max(1.0, std::abs(difference.slope)))
          << what;
    };
    for (std::size_t i = 0; i < found.query.data.size(); i += 2) {
      expect(found.query.data[i], problem.query.data[i], fmt::format("q {}", i));
    }
    for (auto& [name, tensor] : problem.tensors) {
      ASSERT_EQ(found.tensors.count(name), 1u) << name;
      ASSERT_EQ(found.tensors.at(name).extents, tensor.extents) << name;
      for (std::size_t i = 0; i < tensor.data.size(); i += 3) {
        expect(found.tensors.at(name).data[i], tensor.data[i], fmt::format("{} {}", name, i));
      }
    }
    EXPECT_GT(compared, 40);
  }
}

TEST(Structured, DoesNotDependOnThreadsOrBlocks) {
  for (const Call& call : structured_calls()) {
    SCOPED_TRACE(call_text(call));
    const AttentionInput<float> input = convert<float>(tokens_of(call, {1, 3, 600, 600, 8, 8}, 11));
    const auto plan = resolve(call, check_extents(input));
    const Forward<float> alone = forward(*plan, input, one_thread());
    EXPECT_EQ(alone.output.data, forward(*plan, input).output.data);
    const Backward<float> slopes = backward(*plan, input, alone, one_thread());
    EXPECT_EQ(slopes.query.data, backward(*plan, input, alone).query.data);
  }
}

std::string refusal(const Call& call, const Extents& extents) {
  try {
    (void)resolve(call, extents);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Structured, RefusesWhatItDoesNotCombineWith) {
  const Extents extents{1, 1, 4, 4, 8, 8};
  Call call = with_random_tensors(call_from_text("agglomerative:bias=alibi"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("does not combine with bias alibi"));
  call = with_random_tensors(call_from_text("agglomerative:masks=window"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("full, causal"));
  call = with_random_tensors(call_from_text("agglomerative:classes=3"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("must divide d"));
  call = with_random_tensors(call_from_text("agglomerative:position=rope"));
  EXPECT_THAT(refusal(call, extents), testing::HasSubstr("position sinusoidal"));
  EXPECT_THAT(refusal(call_from_text("agglomerative"), extents), testing::HasSubstr("tensor P"));
  EXPECT_THAT(refusal(call_from_text("aglomerative"), extents),
              testing::HasSubstr("agglomerative"));
  EXPECT_THAT(refusal(call_from_text("penumbra"), extents), testing::HasSubstr("penumbral"));
}

TEST(Agglomerative, OfTheLastCausalRowIsThatOfTheFullOne) {
  const Call full = with_random_tensors(call_from_text("agglomerative"));
  Call causal = full;
  causal.masks = {"causal"};
  const AttentionInput<double> input = tokens_of(full, {1, 1, 300, 300, 8, 8}, 3);
  const Extents extents = check_extents(input);
  const Tensor4<double> a = forward(*resolve(full, extents), input).output;
  const Tensor4<double> b = forward(*resolve(causal, extents), input).output;
  for (std::int64_t c = 0; c < 8; ++c) EXPECT_NEAR(a.at(0, 0, 299, c), b.at(0, 0, 299, c), 1e-13);
}

}  // namespace
}  // namespace conelab::tests
