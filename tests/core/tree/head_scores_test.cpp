#include "core/tree/head_scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/geometry/sampling.h"

namespace conelab::tree {
namespace {

constexpr float outside = -std::numeric_limits<float>::infinity();

TEST(HeadScores, OfUniformCausalAttentionAreKnown) {
  // Rows 1, (1/2, 1/2), (1/3, 1/3, 1/3); the last token is special.
  const float third = 1.0F / 3;
  const std::vector<float> weights = {1,       outside, outside, 0.5F, 0.5F,
                                      outside, third,   third,   third};
  // Token 0 is the ancestor of both others.
  HeadScorer scorer(3, 3, {0, 0, 1}, {0, 1, 1, 0, 0, 0, 0, 0, 0});
  scorer.add_rows(weights.data(), 2);
  scorer.add_rows(weights.data() + 6, 1);
  const HeadScores found = scorer.scores();
  EXPECT_NEAR(found.entropy, (std::log(2) + std::log(3)) / 3, 1e-7);
  EXPECT_NEAR(found.distance, (0.5 + 1.0 / 3 + 2.0 / 3) / 3, 1e-7);
  EXPECT_NEAR(found.earlier, (0.5 + 2.0 / 3) / 3, 1e-7);
  EXPECT_NEAR(found.special, (1.0 / 3) / 3, 1e-7);
  EXPECT_TRUE(std::isnan(found.separator));
  EXPECT_NEAR(found.order, (0.5 + 1.0 / 3) / 3, 1e-7);
  EXPECT_NEAR(found.boundary, 1, 1e-6);  // Attention is uniform over what the mask admits.
}

TEST(HeadScores, MatchPlainSumsOverPairs) {
  geometry::test::Sampler sampler(3);
  const std::size_t queries = 5, keys = 8;
  std::vector<float> weights;
  for (std::size_t i = 0; i < queries * keys; ++i) {
    weights.push_back(static_cast<float>(sampler.uniform(0, 2)));  // Rows do not sum to one.
  }
  HeadScorer scorer(queries, keys, {special_mark, 0, 0, 0, 0, 0, 0, separator_mark});
  scorer.add_rows(weights.data(), queries);
  const HeadScores found = scorer.scores();
  double total = 0, entropy = 0, distance = 0, earlier = 0, special = 0, separator = 0;
  for (std::size_t i = 0; i < queries; ++i) {
    const auto w = [&](std::size_t j) { return static_cast<double>(weights[i * keys + j]); };
    double row = 0;
    for (std::size_t j = 0; j < keys; ++j) row += w(j);
    for (std::size_t j = 0; j < keys; ++j) {
      const double away = static_cast<double>(j) - static_cast<double>(i + 3);
      total += w(j);
      entropy -= w(j) / row * std::log(w(j) / row) / queries;
      distance += w(j) * std::abs(away);
      earlier += away < 0 ? w(j) : 0;
      special += j == 0 || j == 7 ? w(j) : 0;
      separator += j == 7 ? w(j) : 0;
    }
  }
  EXPECT_NEAR(found.entropy, entropy, 1e-12);
  EXPECT_NEAR(found.distance, distance / total, 1e-12);
  EXPECT_NEAR(found.earlier, earlier / total, 1e-12);
  EXPECT_NEAR(found.special, special / total, 1e-12);
  EXPECT_NEAR(found.separator, separator / total, 1e-12);
  EXPECT_TRUE(std::isnan(found.boundary));  // There are not as many queries as keys.
  EXPECT_TRUE(std::isnan(found.order));
}

TEST(HeadScores, TheBoundaryIsThatOfTheSegmentation) {
  geometry::test::Sampler sampler(4);
  const std::size_t n = 9;
  std::vector<float> weights;
  for (std::size_t i = 0; i < n * n; ++i) {
    weights.push_back(static_cast<float>(sampler.uniform(0, 1)) *
                      ((i / n < 4) == (i % n < 4) ? 9 : 1));
  }
  HeadScorer scorer(n, n, std::vector<std::uint8_t>(n));
  scorer.add_rows(weights.data(), n);
  const Segmentation found = segmentation({weights.begin(), weights.end()}, n);
  ASSERT_EQ(found.strongest, 3);
  EXPECT_DOUBLE_EQ(scorer.scores().boundary, found.relative[3]);
}

TEST(HeadScores, DoNotExistForWeightsThatAreNoShares) {
  for (const float wrong : {std::nanf(""), -0.5F}) {
    const std::vector<float> weights = {0.5F, wrong, 0.5F, 0.5F};
    HeadScorer scorer(2, 2, {0, 0});
    scorer.add_rows(weights.data(), 2);
    const HeadScores found = scorer.scores();
    for (const HeadScoreInfo& info : head_score_table) {
      EXPECT_TRUE(std::isnan(found.*info.member)) << info.name;
    }
  }
}

TEST(HeadScores, RowsWithoutVisibleKeysDoNotCount) {
  const std::vector<float> weights = {outside, outside, 0.5F, 0.5F};
  HeadScorer scorer(2, 2, {1, 0});
  scorer.add_rows(weights.data(), 2);
  EXPECT_NEAR(scorer.scores().entropy, std::log(2), 1e-12);
  EXPECT_NEAR(scorer.scores().special, 0.5, 1e-12);
}

}  // namespace
}  // namespace conelab::tree
