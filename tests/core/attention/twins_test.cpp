// Rows that one key dominates: a twin of the query among the keys, or a key that all queries
// attend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

class Twins : public testing::TestWithParam<const char*> {};

/// N(0,1) tokens with a twin and a near twin, at which a plain float32 sum errs by 1e-6 and more.
TEST_P(Twins, CostNoDigits) {
  for (const std::string& target : simd_targets()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Case c;
      c.seq_len = 512;
      c.dim = 64;
      const Errors e = errors(call_from_text(GetParam()), random_input(c, 1, seed), target);
      EXPECT_LE(e.output, 5e-7) << target << ", seed " << seed;
      EXPECT_LE(e.gradient, 2e-6) << target << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, Twins, testing::Values("dot", "laplacian", "penumbral"),
                         [](const auto& info) { return std::string(info.param); });

/// A key along which all queries lie takes a tenth to nine tenths of every row.
TEST(Sink, CostsNoDigits) {
  Case c;
  c.seq_len = 700;
  c.dim = 64;
  AttentionInput<float> input = random_input(c, 1, 5);
  for (std::int64_t i = 0; i < c.seq_len; ++i) {
    for (std::int64_t k = 0; k < c.dim; ++k) {
      input.query.at(0, 0, i, k) = 0.25F * input.query.at(0, 0, i, k) + input.key.at(0, 0, 300, k);
    }
  }
  for (const std::string& target : simd_targets()) {
    const Errors e = errors(call_from_text("dot"), input, target);
    EXPECT_LE(e.output, 5e-7) << target;
  }
}

}  // namespace
}  // namespace conelab::tests
