// T5's buckets, as the authors' code has them.
#include "core/pair/bias.h"

#include <gtest/gtest.h>

#include <array>

namespace conelab {
namespace {

/// The bucket of an offset: the bias of a table that holds its own indices.
double bucket(double offset, bool causal, double distance = 128) {
  const BiasRow* t5 = find_bias("t5");
  PartValues values{{0, causal ? 1.0 : 0.0, distance}, {{}, {}, {}}};
  for (int i = 0; i < 32; ++i) values.tensor[0].push_back(i);
  return t5->value(values, offset);
}

TEST(T5, HasTheBucketsOfThePublishedCode) {
  const std::array<std::array<double, 2>, 8> both{
      {{-8, 8}, {-16, 10}, {-64, 14}, {-128, 15}, {1, 17}, {128, 31}, {0, 0}, {-1e6, 15}}};
  for (const auto& [offset, expected] : both) EXPECT_EQ(bucket(offset, false), expected) << offset;
  const std::array<std::array<double, 2>, 6> causal{
      {{-16, 16}, {-32, 21}, {-64, 26}, {-3, 3}, {5, 0}, {-1e6, 31}}};
  for (const auto& [offset, expected] : causal) EXPECT_EQ(bucket(offset, true), expected) << offset;
}

TEST(T5, GivesTheGradientToTheBucketAlone) {
  const BiasRow* t5 = find_bias("t5");
  const PartValues values{{0, 0, 128}, {std::vector<double>(32, 0.5), {}, {}}};
  PartValues gradient{{0, 0, 0}, {std::vector<double>(32, 0.0), {}, {}}};
  t5->slope(values, -16, 2.5, gradient);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(gradient.tensor[0][i], i == 10 ? 2.5 : 0) << i;
}

}  // namespace
}  // namespace conelab
