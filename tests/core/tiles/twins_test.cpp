// Rows that one key dominates: a twin of the query among the keys, or a key that all queries
// attend.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/bench/case_problem.h"
#include "core/call/call.h"
#include "core/tiles/tile.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

TEST(Twins, OfKeysWeighTheSame) {
  Case c;
  c.set("seq_len", 2);
  c.set("dim", 64);
  c.set("head", 1);
  AttentionInput<float> input = random_input(c, 1, 1);
  std::copy_n(input.key.row(0, 0, 0), c.number("dim"), input.key.owned().row(0, 0, 1));
  const auto plan = resolve(call_from_text("dot:scale=0.3"), check_extents(input));
  const Forward<float> found = forward(*plan, input);
  const Backward<float> slopes = backward(*plan, input, found);
  const Tensor4<float> map = attention_map(*plan, input, Map2d::weights);
  for (std::int64_t i = 0; i < 2; ++i) EXPECT_EQ(map.at(0, 0, i, 0), map.at(0, 0, i, 1));
  for (std::int64_t i = 0; i < c.number("dim"); ++i) {
    EXPECT_NEAR(found.output.at(0, 0, 0, i),
                (input.value.at(0, 0, 0, i) + input.value.at(0, 0, 1, i)) / 2, 4e-7);
    EXPECT_EQ(slopes.value.at(0, 0, 0, i), slopes.value.at(0, 0, 1, i));
  }
}

/// What a map shows of rows that a few keys dominate are the weights that their outputs were made
/// of.
TEST(Peaked, RowsOfAMapSumToOne) {
  Case c;
  c.set("seq_len", 300);
  c.set("dim", 64);
  c.set("head", 1);
  AttentionInput<float> input = random_input(c, 1, 5);
  for (float& x : input.query.owned().data) x *= 4;
  const auto plan = resolve(call_from_text("dot"), check_extents(input));
  const Tensor4<float> map = attention_map(*plan, input, Map2d::weights);
  for (std::int64_t i = 0; i < c.number("seq_len"); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < c.number("seq_len"); ++j) {
      sum += static_cast<double>(*(map.row(0, 0, i) + j));
    }
    EXPECT_NEAR(sum, 1, 1e-6) << i;
  }
}

/// Rows are searched for close pairs where their least distance is below perhaps_close |q|^2: so is
/// that of every close pair, whatever the length of the key beside the query's.
TEST(Twin, IsSoughtWhereverThereMayBeOne) {
  int close = 0;
  for (double length = 0.01; length < 10; length *= 1.001) {
    const double least = (1 - length) * (1 - length);
    const double limit = close_ratio<float> * (1 + length * length);
    if (least >= limit) continue;
    ++close;
    EXPECT_LT(limit, 0.99 * perhaps_close<float>) << "|k| / |q| = " << length;
  }
  EXPECT_GT(close, 100);
}

/// Backward corrects close pairs by their values: not by one that a mask hides.
TEST(Twin, BehindAMaskMayHaveAnyValue) {
  AttentionInput<float> input;
  input.query = Tensor4<float>({1, 1, 1, 1}, 1);
  input.key = Tensor4<float>({1, 1, 2, 1}, 1);
  input.value = Tensor4<float>({1, 1, 2, 1}, 1);
  input.value.owned().data[1] = std::numeric_limits<float>::quiet_NaN();
  input.key_lengths = {1};
  const Call call = call_from_text("laplacian:masks=padding");
  const auto plan = resolve(call, check_extents(input));
  const Backward<float> slopes = backward(*plan, input, forward(*plan, input));
  EXPECT_EQ(slopes.query.data[0], 0);
  EXPECT_EQ(slopes.key.data[0], 0);
  EXPECT_EQ(slopes.key.data[1], 0);
  EXPECT_EQ(slopes.value.data[0], 1);
  EXPECT_EQ(slopes.value.data[1], 0);
}

}  // namespace
}  // namespace conelab::tests
