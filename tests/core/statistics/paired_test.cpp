#include "core/statistics/paired.h"

#include <gtest/gtest.h>

#include <cmath>

namespace conelab {
namespace {

// The differences 1, 2, 3, 4, 5 have t = √18 with 4 degrees of freedom, whose distribution is
// F(t) = 1/2 + 3/8 s (1 − s²/12) with s = t / √(1 + t²/4).
TEST(Paired, TestsTheMeanDifference) {
  const double s = std::sqrt(18 / 5.5), none = std::nan("");
  const auto found = paired_difference({0, 1, 7, none, 2, 5}, {1, 3, 10, 1, 6, 10});
  EXPECT_DOUBLE_EQ(found.mean.value, 3);
  EXPECT_NEAR(found.p, 1 - 0.75 * s * (1 - s * s / 12), 1e-14);
  EXPECT_NEAR(found.mean.low, 3 - 2.776445 * std::sqrt(0.5), 1e-5);
  EXPECT_NEAR(paired_difference({10, 3, 6, 1, 10}, {5, 1, 2, 0, 7}).p, found.p, 1e-15);
}

TEST(Paired, KnowsItsLimits) {
  EXPECT_TRUE(std::isnan(paired_difference({1}, {2}).p));
  EXPECT_TRUE(std::isnan(paired_difference({}, {}).mean.value));
  EXPECT_EQ(paired_difference({1, 2}, {1, 2}).p, 1);
  EXPECT_EQ(paired_difference({1, 2}, {3, 4}).p, 0);
}

TEST(Holm, CorrectsFromTheSmallestOn) {
  const auto found = holm_corrected({0.01, 0.04, 0.03, std::nan(""), 0.005, 0.9});
  const double expected[] = {0.04, 0.09, 0.09, 0, 0.025, 0.9};
  for (const std::size_t i : {0, 1, 2, 4, 5}) EXPECT_NEAR(found[i], expected[i], 1e-15) << i;
  EXPECT_TRUE(std::isnan(found[3]));
  EXPECT_EQ(holm_corrected({0.7, 0.8})[0], 1);
}

}  // namespace
}  // namespace conelab
