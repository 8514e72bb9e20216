#include "core/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace conelab {
namespace {

TEST(Random, SplitmixHasItsPublishedValues) {
  std::uint64_t state = 0;
  EXPECT_EQ(splitmix64(state), 0xe220a8397b1dcdafu);
  EXPECT_EQ(splitmix64(state), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(splitmix64(state), 0x06c45d188009454fu);
}

TEST(Random, EqualSeedsGiveEqualNumbersEverywhere) {
  Random random(1);
  EXPECT_EQ(random.next(), 0xb3f2af6d0fc710c5u);
  Random normals(1);
  // Pinned bits: data of a seed must stay the same from release to release.
  const double expected[] = {0x1.e267c87ac62ebp+0, 0x1.84abd879d0e18p-3, 0x1.4d55c9633557cp+0,
                             -0x1.e8d0b0399ee9cp+0};
  for (const double x : expected) EXPECT_EQ(normals.normal(), x);
}

TEST(Random, NormalNumbersHaveTheMomentsOfTheNormalDistribution) {
  Random random(7);
  constexpr int count = 200000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, beyond2 = 0;
  for (int i = 0; i < count; ++i) {
    const double x = random.normal();
    m1 += x / count;
    m2 += x * x / count;
    m3 += x * x * x / count;
    m4 += x * x * x * x / count;
    beyond2 += std::abs(x) > 2;
  }
  EXPECT_NEAR(m1, 0, 0.01);
  EXPECT_NEAR(m2, 1, 0.02);
  EXPECT_NEAR(m3, 0, 0.04);
  EXPECT_NEAR(m4, 3, 0.1);
  EXPECT_NEAR(beyond2 / count, 0.0455, 0.002);
}

TEST(Random, BelowIsUniform) {
  Random random(3);
  std::vector<int> count(7);
  for (int i = 0; i < 70000; ++i) ++count[random.below(7)];
  for (const int c : count) EXPECT_NEAR(c, 10000, 400);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, ShuffleReachesEveryOrder) {
  Random random(5);
  std::vector<int> seen(6);
  for (int i = 0; i < 6000; ++i) {
    std::vector<int> x = {0, 1, 2};
    random.shuffle(x);
    ++seen[static_cast<std::size_t>(x[0] * 2 + (x[1] > x[2]))];
  }
  for (const int c : seen) EXPECT_NEAR(c, 1000, 150);
}

}  // namespace
}  // namespace conelab
