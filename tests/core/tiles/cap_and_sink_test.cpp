// Soft caps and sinks: what they tend to, numbers that are not finite, threads, and what is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

const char* const texts[] = {"dot:masks=causal", "umbral:masks=strided:stride=5",
                             "penumbral:bias=alibi:sinks=random", "laplacian:weights=sigmoid",
                             "additive:axis=query"};

Call prepared(const std::string& text) { return with_random_tensors(call_from_text(text)); }

/// The cap bends a logit by logit^3 / 3 c^2.
TEST(SoftCap, TendsToNoneAsItGrows) {
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    Call call = prepared(text);
    const AttentionInput<double> input = random_input(call, {1, 2, 40, 70, 5, 3}, 3);
    const Answer<double> none = run(call, input);
    for (const double cap : {1e10, 1e15}) {
      call.parameters["soft_cap"] = cap;
      EXPECT_LT(difference(run(call, input).logits, none.logits), 1e-13);
      EXPECT_LT(difference(run(call, input).forward.output, none.forward.output), 1e-13);
      const auto narrow = run(call, convert<float>(input));
      EXPECT_LT(difference(narrow.forward.output, none.forward.output), 1e-5);
    }
    call.parameters["soft_cap"] = 0.5;
    for (const double logit : run(call, input).logits.data) {
      EXPECT_TRUE(std::abs(logit) <= 0.5 || logit == -endless) << logit;
    }
  }
}

TEST(SoftCap, TakesLogitsOfAnySize) {
  const Call call = call_from_text("dot:scale=1e30:soft_cap=3:masks=causal");
  const auto input = convert<float>(random_input(call, {1, 1, 9, 9, 4, 2}, 3));
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> saved = forward(*plan, input);
  const Backward<float> slopes = backward(*plan, input, saved);
  for (const float x : saved.output.data) EXPECT_TRUE(std::isfinite(x));
  for (const float x : slopes.query.data) EXPECT_EQ(x, 0);  // All logits are at the cap.
  EXPECT_TRUE(std::isfinite(slopes.parameters.at("soft_cap").front()));
}

TEST(SoftCap, KeepsNanToTheRowsThatSeeIt) {
  const Call call = call_from_text("penumbral:soft_cap=2:masks=causal");
  AttentionInput<double> input = random_input(call, {1, 1, 8, 8, 4, 2}, 3);
  input.key.owned().at(0, 0, 5, 1) = std::nan("");
  const auto plan = resolve(call, check_extents(input));
  const Forward<double> saved = forward(*plan, input);
  const Backward<double> slopes = backward(*plan, input, saved);
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(std::isnan(saved.output.at(0, 0, i, 0)), i >= 5) << i;
    EXPECT_EQ(std::isnan(slopes.query.at(0, 0, i, 0)), i >= 5) << i;
  }
}

TEST(Sinks, OfMinusInfinityAreNone) {
  for (const char* text : {"dot:masks=causal", "umbral:masks=strided:stride=5"}) {
    SCOPED_TRACE(text);
    const Call call = prepared(text);
    AttentionInput<double> input = random_input(call, {2, 2, 40, 70, 5, 3}, 3);
    const Answer<double> none = run(call, input);
    input.tensors["sinks"] = {{2}, {-endless, -endless}};
    const Answer<double> found = run(call, input);
    EXPECT_EQ(found.forward.output.data, none.forward.output.data);
    EXPECT_EQ(found.forward.lse.data, none.forward.lse.data);
    const auto plan = resolve(call, check_extents(input));
    EXPECT_EQ(backward(*plan, input, found.forward).tensors.at("sinks").data,
              (std::vector<double>{0, 0}));
  }
}

/// A sink far above the logits takes all of the weight, one that is not finite makes its head NaN.
TEST(Sinks, MayHaveAnySize) {
  const Call call = prepared("dot:masks=causal");
  AttentionInput<float> input = convert<float>(random_input(call, {1, 2, 40, 40, 5, 3}, 3));
  for (const double sink : {-1e30, -200.0, 79.0, 200.0, 1e30}) {
    SCOPED_TRACE(sink);
    input.tensors["sinks"] = {{2}, {0, static_cast<float>(sink)}};
    const auto expected =
        reference::evaluate(reference::make_problem(call, convert<double>(input)));
    const Answer<float> found = run(call, input);
    EXPECT_LT(difference(found.forward.output, expected.output), 1e-6);
    EXPECT_LT(difference(found.forward.lse, expected.lse), 1e-6);
    EXPECT_LT(difference(found.weights, expected.weights), 1e-6);
  }
  for (const double sink : {std::nan(""), endless}) {
    input.tensors["sinks"] = {{2}, {0, static_cast<float>(sink)}};
    const Answer<float> found = run(call, input);
    for (std::int64_t i = 0; i < 40; ++i) {
      EXPECT_FALSE(std::isnan(found.forward.output.at(0, 0, i, 0)));
      EXPECT_TRUE(std::isnan(found.forward.output.at(0, 1, i, 0)));
    }
  }
}

TEST(CapsAndSinks, HaveTheSameBitsForAnyNumberOfThreads) {
  for (const char* text : texts) {
    Call call = prepared(text);
    call.parameters["soft_cap"] = 1.5;
    SCOPED_TRACE(call_text(call));
    const auto input = convert<float>(random_input(call, {2, 3, 200, 400, 5, 3}, 3));
    const auto plan = resolve(call, check_extents(input));
    const auto of_threads = [&](int threads) {
      const Execution run = with_threads(threads);
      const Forward<float> saved = forward(*plan, input, run);
      return std::pair{saved, backward(*plan, input, saved, run)};
    };
    const auto one = of_threads(1);
    for (const int threads : {2, 64}) {
      const auto many = of_threads(threads);
      EXPECT_EQ(many.first.output.data, one.first.output.data);
      EXPECT_EQ(many.second.query.data, one.second.query.data);
      EXPECT_EQ(many.second.key.data, one.second.key.data);
      EXPECT_TRUE(many.second.parameters == one.second.parameters);
      EXPECT_TRUE(many.second.tensors == one.second.tensors);
    }
  }
}

TEST(CapsAndSinks, AgreeOnEveryTarget) {
  const Call call = prepared("umbral:soft_cap=1.5:sinks=random:masks=causal:bias=random");
  const AttentionInput<float> input = convert<float>(random_input(call, {1, 2, 70, 150, 20, 9}, 3));
  const auto expected = reference::evaluate(reference::make_problem(call, convert<double>(input)));
  for (const std::string& target : simd_targets<float>()) {
    const Execution execution = one_thread(target);
    const Answer<float> found = run(call, input, execution);
    EXPECT_LT(difference(found.logits, expected.logits), 1e-5) << target;
    EXPECT_LT(difference(found.forward.output, expected.output), 1e-5) << target;
  }
}

TEST(CapsAndSinks, AreRefusedInOneLineWhereTheyDoNotApply) {
  const auto refusal = [](const std::string& text) -> std::string {
    Extents e{1, 2, 4, 4, 3, 3};
    if (text.find("sinks") != std::string::npos) e.tensors["sinks"] = {text[0] == 'u' ? 3 : 2};
    return fixtures::message_of([&] { return resolve(call_from_text(text), e); });
  };
  using testing::HasSubstr;
  EXPECT_EQ(refusal("dot:soft_cap=2,3"), "");
  EXPECT_THAT(refusal("dot:soft_cap=0"), HasSubstr("soft_cap"));
  EXPECT_THAT(refusal("dot:soft_cap=1,2,3"), HasSubstr("one value per head"));
  EXPECT_THAT(refusal("dot:axis=query:sinks=random"), HasSubstr("axis=key"));
  EXPECT_THAT(refusal("dot:weights=sigmoid:sinks=random"), HasSubstr("unknown parameter 'sinks'"));
  EXPECT_THAT(refusal("umbral:sinks=random"), HasSubstr("[head] = [2], found [3]"));
  EXPECT_THAT(refusal("star:soft_cap=2"), HasSubstr("unknown parameter 'soft_cap'"));
}

}  // namespace
}  // namespace conelab::tests
