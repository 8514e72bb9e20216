// Rows that one key dominates: a twin of the query among the keys, or a key that all queries
// attend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/call_text.h"
#include "core/bench/case_input.h"
#include "core/simd/kernels.h"
#include "tests/core/attention/cases.h"

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
  const AttentionInput<double> wide = convert_input<double>(input);
  const Forward<double> exact = forward(*plan, wide, one_thread());
  const Backward<double> exact_slopes = backward(*plan, wide, exact, one_thread());
  return {
      largest(found.output, exact.output),
      std::max({largest(slopes.query, exact_slopes.query), largest(slopes.key, exact_slopes.key),
                largest(slopes.value, exact_slopes.value)})};
}

struct Limit {
  const char* similarity;
  double output;  ///< Of a dot product the rounding of the twin's logit, some 4 ulp of |q|^2, is in
                  ///< it.
};
class Twins : public testing::TestWithParam<Limit> {};

/// N(0,1) tokens with a twin and a near twin, at which a plain float32 sum errs by 2e-6 and more.
TEST_P(Twins, CostNoDigits) {
  for (const std::string& target : simd_targets()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Case c;
      c.seq_len = 512;
      c.dim = 64;
      const Errors e =
          errors(call_from_text(GetParam().similarity), random_input(c, 1, seed), target);
      EXPECT_LE(e.output, GetParam().output) << target << ", seed " << seed;
      EXPECT_LE(e.gradient, 2e-6) << target << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, Twins,
                         testing::Values(Limit{"dot", 1.2e-6}, Limit{"laplacian", 5e-7},
                                         Limit{"penumbral", 5e-7}),
                         [](const auto& info) { return std::string(info.param.similarity); });

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
