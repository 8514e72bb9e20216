#include "core/statistics/rollout.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/random.h"

namespace conelab {
namespace {

/// Random weights whose rows sum to one.
std::vector<double> random_weights(std::size_t n, Random& random) {
  std::vector<double> weights(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += weights[i * n + j] = random.uniform();
    for (std::size_t j = 0; j < n; ++j) weights[i * n + j] /= sum;
  }
  return weights;
}

TEST(Rollout, IsTheProductOfLayersWithTheirResiduals) {
  Random random(5);
  const std::size_t n = 37;
  Rollout rollout(n);
  std::vector<double> expected(n * n);
  for (std::size_t i = 0; i < n; ++i) expected[i * n + i] = 1;
  for (int layer = 0; layer < 3; ++layer) {
    const std::vector<double> a = random_weights(n, random);
    rollout.add_layer(a);
    std::vector<double> next(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t j = 0; j < n; ++j) {
          next[i * n + c] += (a[i * n + j] + (i == j ? 1 : 0)) / 2 * expected[j * n + c];
        }
      }
    }
    expected = next;
  }
  for (std::size_t i = 0; i < n * n; ++i) EXPECT_NEAR(rollout.matrix()[i], expected[i], 1e-15);
}

TEST(Rollout, RowsSumToOneAndCausalLayersStayCausal) {
  const std::size_t n = 3;
  Rollout rollout(n);
  const std::vector<double> causal = {1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5};
  rollout.add_layer(causal);
  rollout.add_layer(causal);
  const std::vector<double>& r = rollout.matrix();
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(r[i * n] + r[i * n + 1] + r[i * n + 2], 1, 1e-15);
  }
  EXPECT_EQ(r[1], 0);
  EXPECT_NEAR(r[3], 0.25 * 1 + 0.75 * 0.25, 1e-15);  // By hand: token 1 reads token 0.
}

TEST(Rollout, RowsThatDoNotSumToOneAreNormalised) {
  Rollout rollout(2);
  rollout.add_layer({3, 1, 0, 0});
  EXPECT_NEAR(rollout.matrix()[0], 4.0 / 5, 1e-15);
  EXPECT_NEAR(rollout.matrix()[1], 1.0 / 5, 1e-15);
  EXPECT_EQ(rollout.matrix()[3], 1);  // A token that attends to nothing keeps itself.
}

TEST(Rollout, CanBeCancelled) {
  Rollout rollout(40);
  Execution execution;
  execution.cancelled = [] { return true; };
  EXPECT_THROW(rollout.add_layer(std::vector<double>(1600, 1.0 / 40), execution), Error);
  EXPECT_EQ(rollout.matrix()[0], 1);
}

}  // namespace
}  // namespace conelab
