// f16 and bf16 tensors on every SIMD target that serves them, against the best target of vectors:
// where a machine has a tile unit, its products keep 16 bits of a factor, not 24.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

/// Distance of neighbours of S at 1.
template <class S>
constexpr double spacing = std::is_same_v<S, Float16> ? 0x1p-10 : 0x1p-7;

template <class A>
void expect_near(const Tensor4<A>& found, const Tensor4<A>& expected, double relative,
                 const char* what) {
  ASSERT_EQ(found.shape, expected.shape) << what;
  double most = 0;
  for (const A x : expected.data) {
    if (std::isfinite(double(x))) most = std::max(most, std::abs(double(x)));
  }
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const auto e = double(expected.data[i]), f = double(found.data[i]);
    if (f == e || (std::isnan(f) && std::isnan(e))) continue;
    ASSERT_NEAR(f, e, relative * most) << what << " " << i;
  }
}

Execution on_target(const std::string& name) {
  const Execution execution = one_thread(name);
  return execution;
}

/// Results of both were rounded to S, so that they may lie one number apart.
template <class S>
void expect_targets_agree(const Call& call, const AttentionInput<S>& input) {
  const auto plan = resolve(call, check_extents(input));
  const Execution vector = on_target(simd_targets<double>().front());
  const Forward<S> saved = forward(*plan, input, vector);
  const Backward<S> expected = backward(*plan, input, saved, vector);
  for (const std::string& name : simd_targets<S>()) {
    SCOPED_TRACE(name);
    const Forward<S> found = forward(*plan, input, on_target(name));
    expect_near(found.output, saved.output, spacing<S>, "output");
    expect_near(found.lse, saved.lse, 0x1p-12, "lse");
    const Backward<S> mine = backward(*plan, input, saved, on_target(name));
    expect_near(mine.query, expected.query, spacing<S>, "query");
    expect_near(mine.key, expected.key, spacing<S>, "key");
    expect_near(mine.value, expected.value, spacing<S>, "value");
  }
}

class HalfTargets : public testing::TestWithParam<Variant> {};

TEST_P(HalfTargets, AgreeForwardAndBackward) {
  const std::vector<Parts> all{{},
                               {"alibi", {"causal"}, "softmax", "einstein", true},
                               {"none", {"explicit", "padding"}, "sigmoid", "mean", false}};
  for (const Parts& parts : all) {
    const Extents extents{1, 2, 70, 130, 19, 5};
    const Call call = make_call(GetParam(), parts, extents);
    const AttentionInput<double> input = random_input(call, extents, 21, 1);
    expect_targets_agree(call, convert<Float16>(input));
    expect_targets_agree(call, convert<Bfloat16>(input));
  }
}

/// More queries, keys and features than any target takes at a time.
TEST(HalfTargets, AgreeOnLongHeads) {
  for (const char* similarity : {"dot", "umbral"}) {
    const Call call = call_from_text(similarity);
    const Extents extents{1, 1, 200, 530, 64, 64};
    const AttentionInput<double> input = random_input(call, extents, 22, 0.5);
    expect_targets_agree(call, convert<Bfloat16>(input));
    expect_targets_agree(call, convert<Float16>(input));
  }
}

/// A token or value that is not finite shows where it is seen, and changes no bit elsewhere.
TEST(HalfTargets, KeepWhatIsNotFiniteFromThoseWhoDoNotSeeIt) {
  const Call call = call_from_text("dot:masks=causal");
  const Extents extents{1, 1, 100, 100, 8, 8};
  const AttentionInput<Float16> clean = convert<Float16>(random_input(call, extents, 23, 1));
  AttentionInput<Float16> with_nan = clean;
  with_nan.value.owned().at(0, 0, 60, 2) = Float16(1e9);  // infinite in f16
  with_nan.key.owned().at(0, 0, 70, 0) = Float16(std::nan(""));
  with_nan.query.owned().at(0, 0, 80, 0) = Float16(std::nan(""));
  const auto plan = resolve(call, extents);
  for (const std::string& name : simd_targets<Float16>()) {
    SCOPED_TRACE(name);
    const auto expected = forward(*plan, clean, on_target(name)).output;
    const auto found = forward(*plan, with_nan, on_target(name)).output;
    for (std::int64_t i = 0; i < extents.query; ++i) {
      for (std::int64_t c = 0; c < extents.value; ++c) {
        const float f = found.at(0, 0, i, c);
        if (i >= 70) {
          EXPECT_TRUE(std::isnan(f)) << i << ", " << c;
        } else if (i >= 60 && c == 2) {
          EXPECT_TRUE(std::isinf(f)) << i;
        } else {
          EXPECT_EQ(f, float(expected.at(0, 0, i, c))) << i << ", " << c;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, HalfTargets, testing::ValuesIn(rounded_variants()),
                         variant_name);

}  // namespace
}  // namespace conelab::tests
