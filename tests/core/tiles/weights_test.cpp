// What the tables do not know of weights and of maps of values.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

template <class T>
bool is_finite(const Tensor4<T>& t) {
  return std::all_of(t.data.begin(), t.data.end(),
                     [](T x) { return std::isfinite(static_cast<double>(x)); });
}

std::string message_of(const std::string& text, const Extents& extents) {
  return fixtures::message_of([&] { return resolve(call_from_text(text), extents); });
}

/// A key that no query sees: two queries, of which the graph lets each see itself.
TEST(SoftmaxOverQueries, LeavesUnseenKeysAlone) {
  for (const char* text : {"dot:axis=query:masks=graph", "dot:axis=query:masks=explicit",
                           "laplacian:axis=query:masks=explicit:aggregate=einstein",
                           "laplacian:axis=query:masks=strided+explicit:aggregate=einstein"}) {
    SCOPED_TRACE(text);
    const Call call = with_random_tensors(call_from_text(text));
    const Extents extents{1, 1, 3, 4, 3, 2};
    AttentionInput<double> input = random_input(call, extents, 3);
    input.indices["edge"] = {{1, 2}, {1, 2}};
    input.allowed = {1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1};
    const auto plan = resolve(call, check_extents(input));
    const Mask mask = plan->mask(input);
    const Forward<double> saved = forward(*plan, input);
    const Backward<double> found = backward(*plan, input, saved);
    EXPECT_TRUE(is_finite(saved.output) && is_finite(found.query) && is_finite(found.key));
    int unseen = 0;
    for (std::int64_t j = 0; j < extents.key; ++j) {
      if (mask.admits(0, 0, j) || mask.admits(0, 1, j) || mask.admits(0, 2, j)) continue;
      ++unseen;
      EXPECT_EQ(saved.column_lse.at(0, 0, j, 0), -std::numeric_limits<double>::infinity());
      for (std::int64_t c = 0; c < extents.feature; ++c) EXPECT_EQ(found.key.at(0, 0, j, c), 0);
      for (std::int64_t c = 0; c < extents.value; ++c) EXPECT_EQ(found.value.at(0, 0, j, c), 0);
    }
    EXPECT_GE(unseen, 1);
  }
}

/// Columns whose logits lie hundreds below the rows' largest: neither overflows nor vanishes.
TEST(SoftmaxOverQueries, HoldsForDistantKeys) {
  for (const char* aggregate : {"mean", "einstein"}) {
    Call call = call_from_text("laplacian:gamma=30:axis=query");
    call.aggregate = aggregate;
    const Extents extents{1, 1, 20, 30, 3, 2};
    AttentionInput<double> input = random_input(call, extents, 5);
    for (std::int64_t c = 0; c < 3; ++c) input.key.owned().at(0, 0, 7, c) = 50;
    const AttentionInput<float> narrow = convert<float>(input);
    const auto expected =
        reference::evaluate(reference::make_problem(call, convert<double>(narrow)));
    const Answer<float> found = run(call, narrow);
    // Logits of 2600 in float32 are rounded by 1e-4.
    EXPECT_LE(difference(found.weights, expected.weights), 1e-3);
    EXPECT_LE(difference(found.forward.output, expected.output), 1e-3);
    const auto plan = resolve(call, extents);
    const Backward<float> slopes = backward(*plan, narrow, found.forward);
    EXPECT_TRUE(is_finite(slopes.query) && is_finite(slopes.key) && is_finite(slopes.value));
  }
}

/// Of 16-bit tensors, rounded once at the end.
TEST(SoftmaxOverQueries, OfSixteenBitsIsThatOfFloats) {
  const Call call = call_from_text("hyperbolic:axis=query:value_map=polar:aggregate=einstein");
  const Extents extents{1, 2, 50, 40, 4, 3};
  const AttentionInput<Bfloat16> half = convert<Bfloat16>(random_input(call, extents, 9));
  const AttentionInput<float> wide = convert<float>(half);
  const auto plan = resolve(call, extents);
  const Forward<Bfloat16> a = forward(*plan, half);
  const Forward<float> b = forward(*plan, wide);
  EXPECT_LE(difference(a.output, b.output), 0x1p-8);
  EXPECT_EQ(a.column_lse.data, b.column_lse.data);
  const Backward<Bfloat16> da = backward(*plan, half, a);
  const Backward<float> db = backward(*plan, wide, b);
  EXPECT_LE(difference(da.query, db.query), 0.02);
  EXPECT_LE(difference(da.value, db.value), 0.02);
}

TEST(ExpWeights, AreThoseOfTheSoftmaxTimesTheirSum) {
  const Extents extents{1, 2, 40, 70, 5, 3};
  const Call call = call_from_text("laplacian:bias=alibi:masks=causal:gamma=20");
  Call exp = call;
  exp.weights = "exp";
  const AttentionInput<double> input = random_input(call, extents, 11);
  const Forward<double> soft = run(call, input).forward, found = run(exp, input).forward;
  EXPECT_EQ(soft.lse.data, found.lse.data);
  for (std::size_t i = 0; i < soft.output.data.size(); ++i) {
    EXPECT_NEAR(found.output.data[i], soft.output.data[i] * std::exp(soft.lse.data[i / 3]), 1e-14);
  }
}

/// Weights beyond the type's range are infinite; the midpoint, which is free of their scale, is
/// not.
TEST(ExpWeights, OverflowToInfinityButNotInTheMidpoint) {
  Call call = call_from_text("dot:scale=1:weights=exp");
  AttentionInput<float> input;
  input.query = input.key = Tensor4<float>({1, 1, 2, 1}, 12.f);
  input.value = Tensor4<float>({1, 1, 2, 1}, 0.5f);
  const Answer<float> mean = run(call, input);
  EXPECT_TRUE(std::isinf(mean.weights.data[0]) && std::isinf(mean.forward.output.data[0]));
  call.aggregate = "einstein";
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> saved = forward(*plan, input);
  EXPECT_FLOAT_EQ(saved.output.data[0], 0.5f);
  const Backward<float> slopes = backward(*plan, input, saved);
  EXPECT_TRUE(is_finite(slopes.query) && is_finite(slopes.value));
}

/// The answer for q = 1, one key and one value in each pair, and dL/dkey for L = output.
struct SigmoidRow {
  double output = 0, lse = 0;
  std::vector<double> slopes;
};
SigmoidRow sigmoid_row(const std::vector<double>& keys, const std::vector<double>& values,
                       bool midpoint) {
  SigmoidRow row;
  long double sum = 0, weighed = 0, gammas = 0;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const long double weight = 1 / (1 + std::exp(-static_cast<long double>(keys[j])));
    const long double gamma = midpoint ? 1 / std::sqrt(1 - values[j] * values[j]) : 1;
    sum += weight, gammas += weight * gamma, weighed += weight * gamma * values[j];
  }
  row.output = static_cast<double>(midpoint ? weighed / gammas : weighed);
  row.lse = static_cast<double>(std::log(sum));
  for (std::size_t j = 0; j < keys.size(); ++j) {
    const long double x = keys[j], rate = 1 / (1 + std::exp(-x)) / (1 + std::exp(x));
    const long double gamma = 1 / std::sqrt(1 - values[j] * values[j]);
    row.slopes.push_back(static_cast<double>(
        rate * (midpoint ? gamma * (values[j] - row.output) / gammas : values[j])));
  }
  return row;
}

template <class T>
void expect_sigmoid_row(const std::vector<double>& keys, const char* text, double tolerance) {
  SCOPED_TRACE(text);
  const Call call = call_from_text(text);
  AttentionInput<T> input;
  const auto count = static_cast<std::int64_t>(keys.size());
  input.query = Tensor4<T>({1, 1, 1, 1}, T(1));
  input.key = input.value = Tensor4<T>({1, 1, count, 1});
  std::vector<double> values;
  for (std::size_t j = 0; j < keys.size(); ++j) {
    input.key.owned().data[j] = static_cast<T>(keys[j]);
    input.value.owned().data[j] = static_cast<T>(j % 7) / 8;
    values.push_back(static_cast<double>(input.value.owned().data[j]));
  }
  const SigmoidRow expected = sigmoid_row(keys, values, call.aggregate == "einstein");
  const auto plan = resolve(call, check_extents(input));
  const Forward<T> found = forward(*plan, input);
  EXPECT_NEAR(found.output.data[0], expected.output, tolerance * (1 + expected.output));
  EXPECT_NEAR(found.lse.data[0], expected.lse, tolerance * (1 + std::abs(expected.lse)));
  const Backward<T> slopes = backward(*plan, input, found);
  // 1 - sigmoid(logit) of a large logit is a difference of rounded numbers.
  for (std::size_t j = 0; j < keys.size(); ++j) {
    EXPECT_NEAR(slopes.key.data[j], expected.slopes[j],
                tolerance * (5e-3 + std::abs(expected.slopes[j])))
        << keys[j];
  }
}

/// The logits of the last tile are small, moderate, close to those of the tiles before, or above
/// them by more than a reference may rise without weighing again.
TEST(SigmoidWeights, AreThoseOfLogitsOfAnySize) {
  for (const double most : {-290.0, -230.0, -90.0, -30.0, -10.0, -1.0, 3.0, 20.0, 60.0}) {
    std::vector<double> keys;
    for (int j = 0; j < 1500; ++j) keys.push_back(-300 - j % 32);
    for (int j = 0; j < 40; ++j) keys.push_back(most - j % 8);
    for (const char* text :
         {"dot:scale=1:weights=sigmoid", "dot:scale=1:weights=sigmoid:aggregate=einstein",
          "dot:scale=1:weights=sigmoid:aggregate=einstein:masks=strided:stride=1"}) {
      expect_sigmoid_row<double>(keys, text, 1e-11);
      expect_sigmoid_row<float>(keys, text, 2e-5);
    }
  }
}

/// Points so far away that Klein coordinates round to the border stay inside.
TEST(ValueMaps, KeepDistantPointsInsideTheBall) {
  for (const char* name : {"polar", "lift"}) {
    Call call = call_from_text("dot:aggregate=einstein");
    call.value_map = name;
    for (const double size : {10.0, 30.0, 1e5}) {
      AttentionInput<double> input;
      input.query = input.key = Tensor4<double>({1, 1, 40, 2}, 0.25);
      input.value = Tensor4<double>({1, 1, 40, 5});
      Random random(3);
      for (double& x : input.value.owned().data) x = random.uniform(-size, size);
      EXPECT_TRUE(is_finite(run(call, input).forward.output)) << name << size;
      const AttentionInput<float> narrow = convert<float>(input);
      EXPECT_TRUE(is_finite(run(call, narrow).forward.output)) << name << size;
    }
  }
}

TEST(ValueMaps, TakeTheFirstAxisForNoDirection) {
  Call call = call_from_text("dot:value_map=polar");
  AttentionInput<double> input;
  input.query = input.key = Tensor4<double>({1, 1, 1, 1});
  input.value = Tensor4<double>({1, 1, 1, 3});
  input.value.owned().data = {0, 0, std::log(2.0)};
  const auto plan = resolve(call, check_extents(input));
  const Forward<double> saved = forward(*plan, input);
  EXPECT_EQ(saved.output.shape, (Shape4{1, 1, 1, 2}));
  EXPECT_NEAR(saved.output.data[0], 0.6, 1e-15);
  EXPECT_EQ(saved.output.data[1], 0);
  const Backward<double> slopes = backward(*plan, input, saved);
  EXPECT_EQ(slopes.value.data[0], 0);
  EXPECT_EQ(slopes.value.data[1], 0);
  EXPECT_NEAR(slopes.value.data[2], 1 - 0.36, 1e-15);
}

TEST(ValueMaps, AndWeightsRefuseWhatTheyDoNotTake) {
  const Extents one{1, 1, 2, 2, 3, 1};
  EXPECT_EQ(message_of("dot:value_map=polar", one),
            "value map polar takes a direction and a radius: values need at least two columns "
            "(found d_v = 1)");
  EXPECT_NE(message_of("dot:value_map=rope", one).find("unknown value map 'rope'"),
            std::string::npos);
  EXPECT_NE(message_of("dot:weights=exp:axis=query", one).find("unknown parameter 'axis'"),
            std::string::npos);
  EXPECT_NE(message_of("dot:axis=column", one).find("key, query"), std::string::npos);
}

TEST(ValueMaps, WantTheOutputsColumnsOfItsGradient) {
  Call call = call_from_text("dot:value_map=polar");
  const Extents extents{1, 1, 4, 5, 3, 3};
  AttentionInput<double> input = random_input(call, extents, 13);
  const auto plan = resolve(call, extents);
  EXPECT_EQ(input.output_grad.shape.feature, 2);
  (void)forward(*plan, input);
  input.output_grad = Tensor4<double>({1, 1, 4, 3});
  EXPECT_THROW((void)forward(*plan, input), Error);
}

}  // namespace
}  // namespace conelab::tests
