// The time on many ranks over a network, predicted from few.
#include "core/bench/rank_model.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace conelab {
namespace {

constexpr double endless = 1e30;

TEST(RankModel, DividesTheTimeWhereTheNetworkCostsNothing) {
  const SharedPass pass{1, 16384, 512, 0};  // 16 blocks, 8 slabs.
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 1, endless), 1);
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 4, endless), 0.25);
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 3, endless), 0.375) << "the busiest has 3 slabs of 8";
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 100, endless), 0.125) << "8 ranks have something to do";
}

/// Two ranks, each with 4 of 8 slabs: 4 slabs are received, of 2048 tokens each.
TEST(RankModel, WaitsForTheSlowerOfNetworkAndProcessor) {
  const SharedPass pass{1, 16384, 512, 0};
  const double slab = 2048 * 512;
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 1, 1), 1);
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 2, slab / 0.0625), 0.5) << "as fast as the processor";
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 2, slab / 0.25), 0.25 + 4 * 0.25);
}

/// Nothing is computed while the sums of gradients travel if each rank has one slab.
TEST(RankModel, AddsTheSumsOfGradients) {
  const SharedPass pass{1, 16384, 512, 1024};
  const double slab = 2048 * 512;
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 8, slab / 0.001), 1. / 64 + 7 * (1. / 64 + 0.002));
  EXPECT_DOUBLE_EQ(predicted_seconds(pass, 4, slab / 0.001), 0.25)
      << "it hides behind another slab";
}

MeasuredCase measured(std::int64_t ranks, double seconds, const char* pass = "forward") {
  MeasuredCase c;
  c.labels = {{"operator", "dot"}, {"pass", pass}, {"device", "cpu"},   {"dtype", "f32"},
              {"dim", "64"},       {"head", "2"},  {"seq_len", "16384"}};
  c.labels.set("ranks", ranks);
  c.flops = 3. * 2 * 4 * 64 * 16384. * 16384;  // A batch of 3.
  c.time = seconds;
  return c;
}

TEST(RankModel, StartsFromTheFewestRanksAboveOne) {
  const auto cases = cases_by_ranks({measured(1, 1), measured(4, 0.3), measured(2, 0.6)},
                                    {16384, {1, 4}, {"1e9"}, 2});
  ASSERT_EQ(cases.size(), 5U);
  EXPECT_EQ(cases[1].labels["seq_len"], "4");
  EXPECT_EQ(cases[1].labels["ranks"], "1");
  EXPECT_EQ(cases[3].labels["operator"], "dot, predicted for 1e9 Gbit/s");
  EXPECT_NEAR(cases[3].time, 0.6, 1e-9) << "1.2 s of one rank, which is twice as fast";
  EXPECT_NEAR(cases[4].time, 0.15, 1e-9);
}

/// Slabs of 2048 tokens of 3 × 2 heads, 128 numbers of 4 bytes each, over 1 Gbit/s.
TEST(RankModel, CountsTheBytesOfAllHeadsAndBatchElements) {
  const auto cases = cases_by_ranks({measured(1, 1e-9)}, {16384, {2}, {"1"}});
  EXPECT_NEAR(cases.back().time, 4 * 2048 * 3 * 2 * 128 * 4. / 125e6, 1e-6);
}

TEST(RankModel, GrowsWithTheLengthAsTheOperationsDo) {
  const auto cases = cases_by_ranks({measured(1, 1)}, {65536, {1}, {"10"}});
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_NEAR(cases[0].time, 16, 1e-9);
}

TEST(RankModel, RefusesWhatIsNoNetwork) {
  for (const char* network : {"fast", "0", "-1", "nan"}) {
    EXPECT_THROW((void)cases_by_ranks({measured(1, 1)}, {16384, {1}, {network}}), Error) << network;
  }
  EXPECT_THROW((void)cases_by_ranks({measured(1, 1)}, {1024, {1}, {}}), Error);
}

}  // namespace
}  // namespace conelab
