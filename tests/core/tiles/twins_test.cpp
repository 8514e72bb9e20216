// Rows that one key dominates: a twin of the query among the keys, or a key that all queries
// attend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/bench/case_problem.h"
#include "core/call/call_text.h"
#include "core/simd/kernels.h"
#include "core/tiles/tile.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

struct Errors {
  double output = 0, gradient = 0;
};

/// Of float32 against float64, the largest absolute ones.
Errors errors(const Call& call, const AttentionInput<float>& input, const std::string& target) {
  Execution execution = one_thread();
  execution.simd = target;
  const auto largest = [](const Tensor4<float>& found, const Tensor4<double>& exact) {
    double most = 0;
    for (std::size_t i = 0; i < found.data.size(); ++i) {
      most = std::fmax(most, std::abs(static_cast<double>(found.data[i]) - exact.data[i]));
    }
    return most;
  };
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> found = forward(*plan, input, execution);
  const Backward<float> slopes = backward(*plan, input, found, execution);
  const AttentionInput<double> wide = convert<double>(input);
  const Forward<double> exact = forward(*plan, wide, one_thread());
  const Backward<double> exact_slopes = backward(*plan, wide, exact, one_thread());
  return {
      largest(found.output, exact.output),
      std::max({largest(slopes.query, exact_slopes.query), largest(slopes.key, exact_slopes.key),
                largest(slopes.value, exact_slopes.value)})};
}

constexpr double output_limit = 5e-7, gradient_limit = 2e-6;

class Twins : public testing::TestWithParam<const char*> {};

/// N(0,1) tokens with a twin and a near twin, at which a plain float32 sum errs by 2e-6 and more.
TEST_P(Twins, CostNoDigits) {
  for (const std::string& target : simd_targets()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Case c;
      c.set("seq_len", 512);
      c.set("dim", 64);
      c.set("head", 1);
      const Call call = call_from_text(GetParam());
      AttentionInput<float> input = random_input(c, 1, seed);
      if (call.aggregate == "einstein") {  // Values inside the ball.
        for (float& x : input.value.data) x *= 0.05F;
      }
      const Errors e = errors(call, input, target);
      EXPECT_LE(e.output, output_limit) << target << ", seed " << seed;
      EXPECT_LE(e.gradient, gradient_limit) << target << ", seed " << seed;
    }
  }
}

/// Without umbral, whose logits of a thousand leave float32 no such digits. (Of penumbral-finite
/// the near twin of one seed lies where common ancestors end.)
INSTANTIATE_TEST_SUITE_P(Similarity, Twins,
                         testing::Values("dot", "laplacian", "penumbral", "hyperbolic",
                                         "umbral-finite", "ganea", "laplacian:aggregate=einstein",
                                         "dot:aggregate=einstein", "laplacian:weights=sigmoid",
                                         "penumbral:gamma=1.3",
                                         "laplacian:bias=hype:masks=window:window=300"),
                         [](const auto& info) {
                           std::string name = info.param;
                           const auto letter = [](char c) { return std::isalnum(c) != 0; };
                           std::replace_if(name.begin(), name.end(), std::not_fn(letter), '_');
                           return name;
                         });

/// A query and two keys in the plane, whose values are 1 and -1.
AttentionInput<float> two_keys(const std::vector<float>& query, const std::vector<float>& keys) {
  AttentionInput<float> input;
  input.query = Tensor4<float>({1, 1, 1, 2});
  input.key = Tensor4<float>({1, 1, 2, 2});
  input.value = Tensor4<float>({1, 1, 2, 1});
  std::copy(query.begin(), query.end(), input.query.data.begin());
  std::copy(keys.begin(), keys.end(), input.key.data.begin());
  input.value.data = {1, -1};
  return input;
}

/// At a tie of float32 numbers formula and exact tokens take different branches.
TEST(Decisive, PairAtAKinkHasFiniteGradients) {
  const AttentionInput<float> input =
      two_keys({0, 1}, {7.336431735893711e-05F, 1.000732421875F, 0, 2});
  const Call call = call_from_text("umbral:map=none");
  for (const std::string& target : simd_targets()) {
    const Errors e = errors(call, input, target);
    EXPECT_LE(e.output, output_limit) << target;
    EXPECT_TRUE(std::isfinite(e.gradient)) << target;
  }
}

/// Far from the source float32 loses the distance of two tokens altogether: their weight stays what
/// the kernel makes of it.
TEST(Decisive, PairBeyondFloatsRangeStaysFinite) {
  const AttentionInput<float> input = two_keys({1, 200}, {1, 200, 1, 41.9F});
  const auto plan = resolve(call_from_text("umbral-finite:gamma=0.7"), check_extents(input));
  for (const std::string& target : simd_targets()) {
    Execution execution = one_thread();
    execution.simd = target;
    const Forward<float> found = forward(*plan, input, execution);
    EXPECT_TRUE(std::isfinite(found.output.data[0])) << target;
    const Backward<float> slopes = backward(*plan, input, found, execution);
    for (const float slope : slopes.value.data) EXPECT_TRUE(std::isfinite(slope)) << target;
  }
}

TEST(Decisive, NeitherOfTwoEqualKeys) {
  Case c;
  c.set("seq_len", 2);
  c.set("dim", 64);
  c.set("head", 1);
  AttentionInput<float> input = random_input(c, 1, 1);
  std::copy_n(input.key.row(0, 0, 0), c.number("dim"), input.key.row(0, 0, 1));
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
  for (float& x : input.query.data) x *= 4;
  const auto plan = resolve(call_from_text("dot"), check_extents(input));
  const Tensor4<float> map = attention_map(*plan, input, Map2d::weights);
  for (std::int64_t i = 0; i < c.number("seq_len"); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < c.number("seq_len"); ++j) {
      sum += static_cast<double>(*(map.row(0, 0, i) + j));
    }
    EXPECT_NEAR(sum, 1, 2e-7) << i;
  }
}

/// Tokens that differ in their distances from the origin by less than those would be rounded were
/// they not small.
TEST(Hyperbolic, TokensNearTheOriginKeepTheirGradients) {
  Case c;
  c.set("seq_len", 64);
  c.set("dim", 64);
  c.set("head", 1);
  AttentionInput<float> input = random_input(c, 1, 1);
  for (Tensor4<float>* tokens : {&input.query, &input.key}) {
    for (std::int64_t i = 0; i < c.number("seq_len"); ++i)
      tokens->row(0, 0, i)[c.number("dim") - 1] *= 1e-4F;
  }
  for (const std::string& target : simd_targets()) {
    EXPECT_LE(errors(call_from_text("hyperbolic"), input, target).gradient, gradient_limit);
  }
}

/// Directions on a sphere 1e-6 apart have lost most of their difference where they are rounded to
/// float32: the gradient erred by its own size.
TEST(Twin, ThatIsNearKeepsItsGradientOnTheSphere) {
  for (const char* name : {"hyperbolic", "penumbral-finite", "umbral-finite", "ganea"}) {
    Case c;
    c.set("seq_len", 64);
    c.set("dim", 64);
    c.set("head", 1);
    AttentionInput<float> input = random_input(c, 1, 1);
    std::copy_n(input.query.row(0, 0, 9), c.number("dim"), input.key.row(0, 0, 7));
    input.key.row(0, 0, 7)[2] += 1e-5F;
    for (const std::string& target : simd_targets()) {
      EXPECT_LE(errors(call_from_text(name), input, target).gradient, gradient_limit)
          << name << target;
    }
  }
}

/// All pairs close, all of them different: more tokens than are remembered.
TEST(Twin, OfEveryTokenCostsNoDigits) {
  Case c;
  c.set("seq_len", 600);
  c.set("dim", 16);
  c.set("head", 1);
  AttentionInput<float> input = random_input(c, 1, 1);
  for (Tensor4<float>* tokens : {&input.query, &input.key}) {
    for (std::size_t i = 0; i < tokens->data.size(); ++i) {
      tokens->data[i] = 2 + 1e-3F * tokens->data[i];
    }
  }
  for (const char* name : {"laplacian", "penumbral", "penumbral-finite", "ganea"}) {
    const Errors e = errors(call_from_text(name), input, "");
    EXPECT_LE(e.output, output_limit) << name;
    EXPECT_LE(e.gradient, gradient_limit) << name;
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
  input.value.data[1] = std::numeric_limits<float>::quiet_NaN();
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
