// The reach of a type: rows that see a finite token beyond it are NaN, all others have numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/call/plan.h"
#include "core/similarity/table.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

const Extents extents{1, 2, 21, 33, 5, 3};

/// Tokens whose x_: are `scale` times those of N(0,1)-like ones, and x_d about `last`.
struct Far {
  const char* call;
  double scale, last;
};

void PrintTo(const Far& far, std::ostream* out) {
  *out << far.call << " times " << far.scale << ", x_d " << far.last;
}

/// Of numbers that float32 holds.
AttentionInput<float> far_input(const Far& far, const Call& call, std::uint64_t seed = 1) {
  auto input = convert<float>(random_input(call, extents, seed));
  for (auto* t : {&input.query, &input.key}) {
    for (std::size_t i = 0; i < t->owned().data.size(); ++i) {
      const bool last = (i + 1) % extents.feature == 0;
      float& x = t->owned().data[i];
      x = static_cast<float>(last ? far.last + x : far.scale * x);
    }
  }
  return input;
}

template <class T>
double largest(const Tensor4<T>& t) {
  double most = 0;
  for (const T x : t.data) most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

/// Relative to the largest expected entry, or to `least`.
template <class A, class B>
void expect_close(const Tensor4<A>& found, const Tensor4<B>& expected, double relative,
                  double least) {
  ASSERT_EQ(found.shape, expected.shape);
  const double tolerance = relative * std::max(least, largest(expected));
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(found.data[i]), static_cast<double>(expected.data[i]),
                tolerance);
  }
}

class BeyondReach : public testing::TestWithParam<Far> {};

TEST_P(BeyondReach, RowsAreNan) {
  const Call call = call_from_text(GetParam().call);
  const Forward<float> found = run(call, far_input(GetParam(), call)).forward;
  for (const float x : found.output.data) ASSERT_TRUE(std::isnan(x));
  for (const float x : found.lse.data) ASSERT_TRUE(std::isnan(x));
}

INSTANTIATE_TEST_SUITE_P(
    Far, BeyondReach,
    testing::Values(Far{"dot", 1e20, 1}, Far{"laplacian", 1e21, 1}, Far{"laplacian", 1e37, 1},
                    Far{"penumbral", 1e21, 1}, Far{"penumbral", 1, -50}, Far{"umbral", 1, 50},
                    Far{"umbral", 1, -50}, Far{"umbral", 1e21, 1}, Far{"hyperbolic", 1, 60},
                    Far{"hyperbolic:model=halfspace", 1e25, 1},
                    Far{"hyperbolic:model=halfspace", 1, 60},
                    Far{"hyperbolic:model=halfspace", 1, -60}, Far{"penumbral-finite", 1, 60},
                    Far{"umbral-finite", 1, 60}, Far{"ganea", 1, 150}));

/// Float32 reaches so far, and every row is its own.
class WithinReach : public testing::TestWithParam<Far> {};

TEST_P(WithinReach, FloatsServe) {
  const Call call = call_from_text(GetParam().call);
  const AttentionInput<float> input = far_input(GetParam(), call);
  const auto found = run(call, input);
  const auto expected = run(call, convert<double>(input));
  // A logit of 80 is rounded to 4e-6, a weight with it.
  expect_close(found.forward.output, expected.forward.output, 3e-5, 1);
  expect_close(found.forward.lse, expected.forward.lse, 1e-6, 1);
  expect_close(found.logits, expected.logits, 1e-6, 1);
  const auto plan = resolve(call, extents);
  const auto gradients = backward(*plan, input, found.forward, one_thread());
  const auto exact = convert<double>(input);
  const auto exact_gradients = backward(*plan, exact, expected.forward, one_thread());
  expect_close(gradients.query, exact_gradients.query, 1e-4, 1e-3);
  expect_close(gradients.key, exact_gradients.key, 1e-4, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Within, WithinReach,
                         testing::Values(Far{"hyperbolic", 1, 12}, Far{"hyperbolic", 1, 20},
                                         Far{"hyperbolic:beta=0.01", 1, 20},
                                         Far{"hyperbolic:model=halfspace", 1, 19},
                                         Far{"hyperbolic:model=halfspace", 1, -19},
                                         Far{"hyperbolic:model=halfspace", 1e10, -5},
                                         Far{"laplacian:gamma=1e-9", 1e9, 1},
                                         Far{"dot:scale=1e-8", 1e4, 1},
                                         Far{"penumbral:gamma=1e-9", 1e9, 1},
                                         Far{"penumbral", 1, -19}, Far{"umbral:gamma=1e-8", 1, 15},
                                         Far{"umbral", 1, -19}, Far{"penumbral-finite", 1, 18},
                                         Far{"umbral-finite", 1, 18}, Far{"ganea", 1, 18}));

/// z = sinh^2(d_H / 2) of 1e20 is a float, its square is none.
TEST(Reach, WhereHalfDistancesSquareBeyondFloats) {
  Call call = call_from_text("hyperbolic:model=halfspace");
  call.map = "none";
  const Extents few{1, 1, 2, 3, 3, 1};
  AttentionInput<float> input = convert<float>(random_input(call, few, 1));
  constexpr float low = 1e-8F;
  input.query.owned().data = {0, 0, low, 5, 0, 2 * low};
  input.key.owned().data = {100, 0, low, 0, 300, 3 * low, -200, 1, low};
  const auto exact = convert<double>(input);
  const auto found = run(call, input);
  const auto expected = run(call, exact);
  EXPECT_GT(largest(expected.logits), 44);
  EXPECT_LT(largest(expected.logits), 60);
  expect_close(found.logits, expected.logits, 1e-6, 0);
  expect_close(found.weights, expected.weights, 1e-5, 0);
  const auto plan = resolve(call, few);
  const auto gradients = backward(*plan, input, found.forward, one_thread());
  const auto exact_gradients = backward(*plan, exact, expected.forward, one_thread());
  EXPECT_GT(largest(exact_gradients.key), 1e5);
  expect_close(gradients.key, exact_gradients.key, 1e-5, 0);
  // The slopes of a row, of no sum, times the inverse of one height.
  expect_close(gradients.query, exact_gradients.query, 1e-6, 1 / double{low});
}

/// The largest distances that floats hold: e^-d is no float there.
TEST(Reach, AtTheEndOfTheHalfSpace) {
  Call call = call_from_text("hyperbolic:model=halfspace");
  call.map = "none";
  const Extents few{1, 1, 1, 3, 2, 1};
  AttentionInput<float> input = convert<float>(random_input(call, few, 1));
  input.query.owned().data = {2.7e9F, 3.7e-10F};
  input.key.owned().data = {-2.7e9F, 3.7e-10F, -1e9F, 4e-10F, 0, 3.8e-10F};  // No common centre.
  const auto found = run(call, input);
  const auto expected = run(call, convert<double>(input));
  EXPECT_GT(largest(expected.logits), 88.2);
  expect_close(found.logits, expected.logits, 1.5e-7, 0);
  expect_close(found.weights, expected.weights, 1e-5, 0);
}

/// One query out of reach among ordinary ones.
TEST(Reach, TokensChangeNoBitOfOtherRows) {
  const Call call = call_from_text("umbral");
  AttentionInput<float> input = far_input({"umbral", 1, 0}, call);
  const auto before = run(call, input);
  input.query.owned().at(0, 1, 4, extents.feature - 1) = 60;
  const auto after = run(call, input);
  for (std::int64_t h = 0; h < extents.head; ++h) {
    for (std::int64_t i = 0; i < extents.query; ++i) {
      for (std::int64_t c = 0; c < extents.value; ++c) {
        const float found = after.forward.output.at(0, h, i, c);
        if (h == 1 && i == 4) {
          EXPECT_TRUE(std::isnan(found));
        } else {
          EXPECT_EQ(found, before.forward.output.at(0, h, i, c));
        }
      }
    }
  }
}

/// An infinite logit would look masked.
TEST(Reach, InfiniteTokensAreNanInMaps) {
  const Call call = call_from_text("laplacian");
  AttentionInput<float> input = far_input({"laplacian", 1, 0}, call);
  input.query.owned().at(0, 0, 3, 0) = input.key.owned().at(0, 0, 5, 1) =
      std::numeric_limits<float>::infinity();
  const auto found = run(call, input);
  for (std::int64_t j = 0; j < extents.key; ++j) {
    EXPECT_TRUE(std::isnan(found.logits.at(0, 0, 3, j)));
    EXPECT_TRUE(std::isnan(found.weights.at(0, 0, 3, j)));
  }
  EXPECT_TRUE(std::isnan(found.logits.at(0, 0, 2, 5)));
  EXPECT_TRUE(std::isfinite(found.logits.at(0, 0, 2, 4)));
}

/// NaN, not the zeros of a masked row.
TEST(Reach, RowsOfFloat64AreNan) {
  for (const Far& far : {Far{"umbral", 1, 400}, Far{"laplacian", 1, 1}, Far{"hyperbolic", 1, 380},
                         Far{"ganea", 1, 400}}) {
    const Call call = call_from_text(far.call);
    AttentionInput<double> input = random_input(call, extents, 1);
    for (auto* t : {&input.query, &input.key}) {
      for (double& x : t->owned().data) {
        if (far.last == 1) x *= 1e200;
      }
      for (std::int64_t i = 0; far.last != 1 && i < t->shape.head * t->shape.token; ++i) {
        t->owned().data[static_cast<std::size_t>((i + 1) * extents.feature - 1)] += far.last;
      }
    }
    const auto found = run(call, input).forward;
    for (const double x : found.output.data) ASSERT_TRUE(std::isnan(x)) << far.call;
    for (const double x : found.lse.data) ASSERT_TRUE(std::isnan(x)) << far.call;
  }
}

/// What a distance of 700 is made of overflows when squared; the distance does not.
TEST(Reach, Float64HoldsDistancesWhoseSquaresItDoesNot) {
  struct Pair {
    const char* model;
    double height, measure, distance, slope;
  };
  for (const Pair& pair : {Pair{"hyperboloid", 350, 4, 700, -1},
                           Pair{"halfspace", 1e-150, 1, 300 * std::numbers::ln10, 1e150}}) {
    const SimilarityRow& row = *find_similarity("hyperbolic", {pair.model});
    const double parameters[] = {1, 0};
    double constants[max_constants], token[max_values];
    row.constant(parameters, constants);
    row.token({pair.height, 0}, parameters, token);
    EXPECT_NEAR(row.score(pair.measure, token, token, constants) / -pair.distance, 1, 1e-14);
    const PairSlope slope = row.slope(pair.measure, token, token, constants);
    EXPECT_NEAR(slope.logit / -pair.distance, 1, 1e-14) << pair.model;
    EXPECT_NEAR(slope.query / pair.slope, 1, 1e-14) << pair.model;
    EXPECT_NEAR(slope.key / pair.slope, 1, 1e-14) << pair.model;
  }
}

}  // namespace
}  // namespace conelab::tests
