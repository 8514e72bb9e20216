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
      give_mask_parameters(call);
      calls.push_back(with_random_tensors(call));
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

/// Tokens and all tensors, those that may be absent too. An operator that reads q alone gets q for
/// k and v.
AttentionInput<double> tokens_of(const Call& call, const Extents& e, std::uint64_t seed) {
  Call all = call;
  for (const ParameterInfo& info : call_parameters(call)) {
    if (info.domain == Domain::tensor) all.parameters[info.key] = "random";
  }
  AttentionInput<double> input = random_input(all, e, seed);
  input.output_grad = {};
  if (!reads_keys(call)) input.key = input.value = input.query;
  return input;
}

/// Sizes for n tokens: of more keys than queries, where the operator reads both.
Extents sizes_of(const Call& call, Extents e) {
  if (reads_keys(call)) e.key += 3;
  return e;
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
      const AttentionInput<double> input = tokens_of(call, sizes_of(call, {2, 2, n, n, 8, 8}), 5);
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
    AttentionInput<double> input = tokens_of(call, sizes_of(call, {1, 2, 7, 7, 8, 8}), 7);
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
    ASSERT_EQ(found.key.empty(), !reads_keys(call));
    for (std::size_t i = 0; i < found.key.data.size(); i += 2) {
      expect(found.key.data[i], problem.key.data[i], fmt::format("k {}", i));
    }
    for (std::size_t i = 0; i < found.value.data.size(); i += 2) {
      expect(found.value.data[i], problem.value.data[i], fmt::format("v {}", i));
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
    for (const std::int64_t heads : {1, 3}) {  // Threads share a head, or have one each.
      SCOPED_TRACE(fmt::format("{}, {} heads", call_text(call), heads));
      const AttentionInput<float> input =
          convert<float>(tokens_of(call, {1, heads, 600, 600, 8, 8}, 11));
      const auto plan = resolve(call, check_extents(input));
      const Forward<float> alone = forward(*plan, input, one_thread());
      EXPECT_EQ(alone.output.data, forward(*plan, input).output.data);
      const Backward<float> slopes = backward(*plan, input, alone, one_thread());
      const Backward<float> again = backward(*plan, input, alone);
      EXPECT_EQ(slopes.query.data, again.query.data);
      EXPECT_EQ(slopes.key.data, again.key.data);
      EXPECT_EQ(slopes.value.data, again.value.data);
      EXPECT_EQ(slopes.tensors, again.tensors);
    }
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

Tensor4<double> output_of(const std::string& text, const AttentionInput<double>& input) {
  return forward(*resolve(call_from_text(text), check_extents(input)), input).output;
}

TEST(BiBlosa, BackwardIsForwardOnTheReversedSequence) {
  const Call call = with_random_tensors(call_from_text("bi-blosa:direction=forward"));
  AttentionInput<double> input = tokens_of(call, {1, 1, 12, 12, 5, 5}, 3);
  const Tensor4<double> forwards = output_of("bi-blosa:direction=forward:block=4", input);
  AttentionInput<double> reversed = input;
  for (std::int64_t i = 0; i < 12; ++i) {
    std::copy_n(input.query.row(0, 0, 11 - i), 5, reversed.query.row(0, 0, i));
  }
  const Tensor4<double> backwards = output_of("bi-blosa:direction=backward:block=4", reversed);
  for (std::int64_t i = 0; i < 12; ++i) {
    for (std::int64_t c = 0; c < 5; ++c) {
      EXPECT_NEAR(forwards.at(0, 0, i, c), backwards.at(0, 0, 11 - i, c), 1e-14);
    }
  }
}

TEST(BiBlosa, NamesTheTensorThatHasAnotherShape) {
  Extents extents{1, 1, 4, 4, 8, 8};
  const Call both = with_random_tensors(call_from_text("bi-blosa"));
  extents.tensors["W_key"] = {8, 8};
  EXPECT_THAT(refusal(both, extents),
              testing::AllOf(testing::HasSubstr("tensor W_key"), testing::HasSubstr("[8 x 8]"),
                             testing::HasSubstr("[2 x d x d] = [2 x 8 x 8]")));
  const Call one = with_random_tensors(call_from_text("bi-blosa:direction=backward"));
  EXPECT_EQ(refusal(one, extents), "");
  extents.tensors["W_fusion"] = {8, 16};
  EXPECT_THAT(refusal(one, extents), testing::HasSubstr("[d x 3d] = [8 x 24]"));
}

TEST(StructuredNan, OfOneTokenReachesTheRowsThatSeeIt) {
  for (const char* text : {"relation-network:masks=causal", "bi-blosa:direction=forward:block=4"}) {
    SCOPED_TRACE(text);
    const Call call = with_random_tensors(call_from_text(text));
    AttentionInput<double> input = tokens_of(call, {1, 1, 12, 12, 5, 5}, 3);
    const Tensor4<double> clean = output_of(text, input);
    input.query.at(0, 0, 6, 2) = input.key.at(0, 0, 6, 2) = std::nan("");
    const Tensor4<double> found = output_of(text, input);
    for (std::int64_t i = 0; i < 12; ++i) {
      for (std::int64_t c = 0; c < clean.shape.feature; ++c) {
        const double x = found.at(0, 0, i, c);
        EXPECT_TRUE(i < 6 || std::isnan(x)) << i;
        EXPECT_TRUE(i >= 4 || std::abs(x - clean.at(0, 0, i, c)) < 1e-13) << i;
      }
    }
  }
}

}  // namespace
}  // namespace conelab::tests
