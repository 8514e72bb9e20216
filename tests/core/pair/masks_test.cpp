// Masks say what they mean: no window, operand or plan that does not fit passes for "see all".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/reference/evaluate.h"
#include "core/reference/problem.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

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
  for (const char* width : {"1", "2", "3", "10", "11", "1e3", "1e15"}) {
    const Call call = masked("window", width);
    const AttentionInput<double> input = random_input(call, extents, 1);
    const auto problem = reference::make_problem(call, input);
    std::int64_t expected = 0;
    for (std::int64_t i = 0; i < extents.query; ++i) {
      for (std::int64_t j = 0; j < extents.key; ++j) {
        expected += extents.head * (reference::sees(problem, 0, 0, i, j) ? 1 : 0);
      }
    }
    EXPECT_EQ(seen_pairs(call), expected) << width;
    EXPECT_GT(expected, 0) << width;
  }
}

TEST(Window, IsOneNumberForAllHeads) {
  EXPECT_THAT(fixtures::misuse_of([] { return resolve(masked("window", "2,3"), extents); }),
              HasSubstr("window"));
}

TEST(Window, IsAWholeNumber) {
  for (const char* width : {"0", "-1", "0.5", "2.7", "1e300"}) {
    EXPECT_THROW((void)resolve(masked("window", width), extents), Error) << width;
  }
}

std::int64_t pairs_of(Call call, std::int64_t n) {
  call.similarity = "dot";
  const Extents square{1, 1, n, n, 2, 1};
  const AttentionInput<double> input = random_input(call, square, 1);
  const auto plan = resolve(call, square);
  const Tensor4<double> map = attention_map(*plan, input, Map2d::logits);
  const std::int64_t seen =
      std::count_if(map.data.begin(), map.data.end(), [](double x) { return std::isfinite(x); });
  const auto all = static_cast<double>(n * n);
  EXPECT_NEAR(plan->mask(input).share(), static_cast<double>(seen) / all, 1e-12);
  return seen;
}

TEST(Fixed, HasThePairsOfThePaper) {
  Call call = masked("fixed");
  call.parameters = {{"stride", "3"}, {"summary", "1"}};
  EXPECT_EQ(pairs_of(call, 6), 15);
  call = masked("strided");
  call.parameters = {{"stride", "3"}};
  EXPECT_EQ(pairs_of(call, 6), 18);
}

TEST(Directional, IsStrict) {
  Call call = masked("directional");
  EXPECT_EQ(pairs_of(call, 5), 10);
  call.masks = {"directional", "causal"};
  EXPECT_EQ(pairs_of(call, 5), 10);
  call.parameters["direction"] = "backward";
  EXPECT_EQ(pairs_of(call, 5), 0);
}

/// dL/dk and dL/dv of tokens that a segment sees as memory only are those of their own segment.
/// Scalars q = k = v = 1, 2, 3, 4, scale 1, L = M = 2; only query 2 (number 3) is differentiated.
TEST(Segment, StopsGradientsAtItsStart) {
  Call call = masked("segment");
  call.similarity = "dot";
  call.parameters = {{"segment", "2"}, {"scale", "1"}};
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, 4, 1});
  input.query.owned().data = {1, 2, 3, 4};
  input.key = input.value = input.query;
  input.output_grad = Tensor4<double>({1, 1, 4, 1});
  input.output_grad.owned().data = {0, 0, 1, 0};
  const auto plan = resolve(call, check_extents(input));
  const Forward<double> saved = forward(*plan, input);
  const Backward<double> found = backward(*plan, input, saved);
  // Weights of keys 1, 2, 3 under query 3 are e^-6, e^-3, 1 over their sum.
  const double a = std::exp(-6.0), b = std::exp(-3.0), sum = a + b + 1;
  const double w[] = {a / sum, b / sum, 1 / sum};
  const double mean = w[0] + 2 * w[1] + 3 * w[2];
  EXPECT_NEAR(found.value.data[2], w[2], 1e-14);
  EXPECT_NEAR(found.key.data[2], w[2] * (3 - mean) * 3, 1e-14);
  for (const std::size_t j : {0u, 1u, 3u}) {
    EXPECT_EQ(found.value.data[j], 0) << j;
    EXPECT_EQ(found.key.data[j], 0) << j;
  }
  double by_query = 0, by_scale = 0;
  for (int j = 0; j < 3; ++j) {
    by_query += w[j] * (j + 1 - mean) * (j + 1);
    by_scale += w[j] * (j + 1 - mean) * (j + 1) * 3;
  }
  EXPECT_NEAR(found.query.data[2], by_query, 1e-14);
  EXPECT_NEAR(found.parameters.at("scale").at(0), by_scale, 1e-14);
}

/// With M >= n the output is that of causal attention, its gradients of k and v are not.
TEST(Segment, OfAllMemoryIsCausalOnTheWayForward) {
  Call segment = masked("segment"), causal = masked("causal");
  segment.parameters = {{"segment", "4"}, {"memory", "20"}};
  const AttentionInput<double> input = random_input(causal, extents, 5);
  const auto a = resolve(segment, extents), b = resolve(causal, extents);
  const Forward<double> of_segment = forward(*a, input), of_causal = forward(*b, input);
  EXPECT_LE(difference(of_segment.output, of_causal.output), 1e-14);
  const Backward<double> x = backward(*a, input, of_segment), y = backward(*b, input, of_causal);
  EXPECT_LE(difference(x.query, y.query), 1e-13);
  EXPECT_GT(difference(x.key, y.key), 1e-3);
  EXPECT_GT(difference(x.value, y.value), 1e-3);
}

TEST(Mask, IsFoundByTheOperandThatItReads) {
  for (const MaskRow& row : mask_table()) {
    if (row.operand == MaskOperand::none) continue;
    EXPECT_EQ(&mask_reading(row.operand), &row) << row.name;
    EXPECT_TRUE(read_by_any({"causal", row.name}, row.operand)) << row.name;
    EXPECT_FALSE(read_by_any({"causal", "nonesuch"}, row.operand)) << row.name;
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
  input.key.owned().at(0, 0, 5, 3) = 800;  // e^800
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
