#include "core/tree/segmentation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/geometry/sampling.h"

namespace conelab::tree {
namespace {

TEST(Segmentation, OfUniformAttentionIsOneEverywhere) {
  const std::size_t n = 5;
  const Segmentation found = segmentation(std::vector<double>(n * n, 1.0 / n), n);
  ASSERT_EQ(found.crossing.size(), n - 1);
  for (std::size_t b = 0; b + 1 < n; ++b) {
    const double pairs = 2.0 * static_cast<double>((b + 1) * (n - b - 1)) / (n * n);
    EXPECT_NEAR(found.crossing[b], pairs, 1e-15);
    EXPECT_NEAR(found.uniform[b], pairs, 1e-15);
    EXPECT_NEAR(found.relative[b], 1, 1e-14);
  }
}

TEST(Segmentation, FindsTheBoundaryOfTwoBlocks) {
  const std::size_t n = 6;
  std::vector<double> weights(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      weights[i * n + j] = (i < 2) == (j < 2) ? (i < 2 ? 0.5 : 0.25) : 0;
  }
  const Segmentation found = segmentation(weights, n);
  EXPECT_EQ(found.strongest, 1);
  EXPECT_EQ(found.crossing[1], 0);
  EXPECT_GT(found.crossing[0], 0);
}

TEST(Segmentation, MatchesTheSumOverPairs) {
  geometry::test::Sampler sampler(1);
  const std::size_t n = 17;
  std::vector<double> weights(n * n);
  std::vector<std::uint8_t> allowed(n * n);
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {  // causal
      allowed[i * n + j] = 1;
      total += weights[i * n + j] = sampler.uniform(0, 1);
    }
  }
  const Segmentation found = segmentation(weights, n, allowed);
  for (std::size_t b = 0; b + 1 < n; ++b) {
    double crossing = 0, uniform = 0;
    for (std::size_t i = b + 1; i < n; ++i) {
      for (std::size_t j = 0; j <= b; ++j) {
        crossing += weights[i * n + j];
        uniform += 1.0 / static_cast<double>(i + 1);
      }
    }
    EXPECT_NEAR(found.crossing[b], crossing / total, 1e-13);
    EXPECT_NEAR(found.uniform[b], uniform / n, 1e-13);
  }
}

TEST(Segmentation, OfNothingAndOfMaskedOrNanRowsIsDefined) {
  EXPECT_TRUE(segmentation({}, 0).crossing.empty());
  EXPECT_EQ(segmentation({1}, 1).strongest, -1);
  const Segmentation found = segmentation({std::nan(""), 0, 0, 0}, 2, {0, 0, 0, 0});
  EXPECT_EQ(found.crossing[0], 0);
  EXPECT_EQ(found.relative[0], 0);
}

TEST(Segmentation, OfUnknownWeightsIsUnknown) {
  const Segmentation found = segmentation({0.5, 0.5, 0, 1, std::nan(""), 0, 0, 0, 1}, 3);
  for (std::size_t b = 0; b < 2; ++b) {
    EXPECT_TRUE(std::isnan(found.crossing[b]));
    EXPECT_TRUE(std::isnan(found.relative[b]));
    EXPECT_GT(found.uniform[b], 0);
  }
  EXPECT_EQ(found.strongest, -1);
}

}  // namespace
}  // namespace conelab::tree
