// Masks say what they mean: no window, operand or plan that does not fit passes for "see all".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/reference/evaluate.h"
#include "core/reference/problem.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

using testing::HasSubstr;

const Extents extents{1, 2, 9, 11, 4, 3};

Call masked(const std::string& mask, const std::string& window = "") {
  Call call;
  call.masks = {mask};
  if (!window.empty()) call.parameters["window"] = window;
  return call;
}

std::int64_t seen_pairs(const Call& call) {
  const AttentionInput<double> input = random_input(call, extents, 1);
  const Tensor4<double> map = attention_map(*resolve(call, extents), input, Map2d::logits);
  return std::count_if(map.data.begin(), map.data.end(), [](double x) { return std::isfinite(x); });
}

TEST(Window, OfAnyWidthIsTheReferences) {
  for (const char* width : {"0.5", "1", "1.5", "2", "2.7", "10", "11.5", "1e3", "1e19", "1e300"}) {
    const Call call = masked("window", width);
    const AttentionInput<double> input = random_input(call, extents, 1);
    const auto problem = reference::make_problem(call, input);
    std::int64_t expected = 0;
    for (std::int64_t i = 0; i < extents.query; ++i) {
      for (std::int64_t j = 0; j < extents.key; ++j) {
        expected += extents.head * (reference::sees(problem, 0, i, j) ? 1 : 0);
      }
    }
    EXPECT_EQ(seen_pairs(call), expected) << width;
    EXPECT_GT(expected, 0) << width;
  }
}

TEST(Window, IsOneNumberForAllHeads) {
  try {
    (void)resolve(masked("window", "2,3"), extents);
    ADD_FAILURE() << "a list passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_THAT(error.what(), HasSubstr("window"));
  }
}

TEST(Mask, WithoutItsOperandIsMisuse) {
  for (const char* name : {"padding", "explicit"}) {
    const Call call = masked(name);
    AttentionInput<double> input = random_input(call, extents, 2);
    const auto plan = resolve(call, extents);
    const Forward<double> saved = forward(*plan, input);
    input.allowed.clear();
    input.key_lengths.clear();
    EXPECT_THROW((void)forward(*plan, input), Error) << name;
    EXPECT_THROW((void)backward(*plan, input, saved), Error) << name;
    EXPECT_THROW((void)attention_map(*plan, input, Map2d::logits), Error) << name;
  }
}

TEST(Plan, IsForInputsOfItsExtents) {
  const AttentionInput<double> input = random_input(Call{}, extents, 3);
  Extents other = extents;
  other.key += 1;
  const auto plan = resolve(Call{}, other);
  EXPECT_THROW((void)forward(*plan, input), Error);
  const auto own = resolve(Call{}, extents);
  Forward<double> saved = forward(*own, input);
  saved.row_sum = {};
  EXPECT_THROW((void)backward(*own, input, saved), Error);
}

/// A finite token that overflows once placed, even in float64: only rows that see it may suffer.
TEST(Overflow, OfAPlacedTokenStaysWithTheRowsThatSeeIt) {
  Call call = masked("causal");
  call.similarity = "umbral";
  const Extents square{1, 1, 8, 8, 4, 3};
  AttentionInput<double> input = random_input(call, square, 4);
  input.key.at(0, 0, 5, 3) = 800;  // e^800
  const auto plan = resolve(call, square);
  const Forward<double> found = forward(*plan, input);
  const Backward<double> slopes = backward(*plan, input, found);
  for (std::int64_t i = 0; i < 5; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) EXPECT_TRUE(std::isfinite(found.output.at(0, 0, i, c)));
    for (std::int64_t c = 0; c < 4; ++c) EXPECT_TRUE(std::isfinite(slopes.query.at(0, 0, i, c)));
  }
  EXPECT_TRUE(std::isnan(found.output.at(0, 0, 6, 0)));
}

}  // namespace
}  // namespace conelab::tests
