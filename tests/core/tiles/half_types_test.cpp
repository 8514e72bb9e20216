// f16 and bf16: stored and read as 16 bits, computed in float, rounded once at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

class HalfTypes : public testing::TestWithParam<Variant> {};

template <class S>
AttentionInput<S> half_input(const Call& call, const Extents& extents, std::uint64_t seed) {
  return convert<S>(random_input(call, extents, seed, 1));
}

/// The same bits, NaN equal to NaN. Gradients are rounded from double: beside a tie, rounding to
/// float first may have moved them to the other side.
template <class S>
void expect_rounded(const Tensor4<S>& found, const Tensor4<float>& wide, const char* what) {
  ASSERT_EQ(found.shape, wide.shape) << what;
  for (std::size_t i = 0; i < wide.data.size(); ++i) {
    if (std::isnan(wide.data[i]) && std::isnan(float(found.data[i]))) continue;
    const float x = wide.data[i];
    const S below(std::nextafter(x, -HUGE_VALF)), above(std::nextafter(x, HUGE_VALF));
    ASSERT_TRUE(float(below) <= float(found.data[i]) && float(found.data[i]) <= float(above))
        << what << " " << i << ": " << x << " became " << float(found.data[i]);
  }
}

/// The float pass on the same numbers, given the rounded output as the 16-bit backward pass is.
/// Both on a target of vectors: a tile unit multiplies tensors of 16 bits in fewer terms.
template <class S>
void expect_float_pass_rounded(const Call& call, const AttentionInput<S>& input) {
  const AttentionInput<float> wide = convert<float>(input);
  const auto plan = resolve(call, check_extents(input));
  const Execution execution = one_thread(simd_targets<double>().front());
  const Forward<S> found = forward(*plan, input, execution);
  Forward<float> expected = forward(*plan, wide, execution);
  expect_rounded(found.output, expected.output, "output");
  EXPECT_EQ(found.lse.data, expected.lse.data);
  EXPECT_EQ(attention_map(*plan, input, Map2d::weights, execution).data,
            attention_map(*plan, wide, Map2d::weights, execution).data);
  expected.output = convert<float>(found.output);
  const Backward<S> mine = backward(*plan, input, found, execution);
  const Backward<float> theirs = backward(*plan, wide, expected, execution);
  expect_rounded(mine.query, theirs.query, "query");
  expect_rounded(mine.key, theirs.key, "key");
  expect_rounded(mine.value, theirs.value, "value");
  EXPECT_EQ(mine.parameters, theirs.parameters);
}

template <class S>
void expect_float_pass_rounded(const Variant& variant) {
  const std::vector<Parts> all{{},
                               {"alibi", {"causal"}, "softmax", "einstein", true},
                               {"none", {"explicit", "padding"}, "sigmoid", "mean", false}};
  for (const Parts& parts : all) {
    const Extents extents = with_key_heads({2, 2, 50, 70, 9, 5}, parts.masks.size());
    const Call call = make_call(variant, parts, extents);
    AttentionInput<S> input = half_input<S>(call, extents, 3);
    if (parts.bias == "none") input.output_grad = {};
    expect_float_pass_rounded<S>(call, input);
  }
}

TEST_P(HalfTypes, AreTheFloatPassRoundedOnce) {
  expect_float_pass_rounded<Float16>(GetParam());
  expect_float_pass_rounded<Bfloat16>(GetParam());
}

TEST(HalfTypes, TensorsOfWholePanelsAreReadInPlaceOrNotAlike) {
  const Extents extents{1, 2, 100, 600, 64, 64};
  const Call call = call_from_text("laplacian");
  expect_float_pass_rounded(call, half_input<Bfloat16>(call, extents, 5));
}

/// The first rows of every tensor of queries.
template <class S>
Tensor4<S> first_tokens(const Tensor4<S>& t, std::int64_t count) {
  Tensor4<S> out({1, 1, count, t.shape.feature});
  std::copy_n(t.data.begin(), out.data.size(), out.data.begin());
  return out;
}

TEST(HalfTypes, QueriesTooManyToKeepPlacedHaveTheGradientsOfFew) {
  const std::int64_t few = 480;
  const Call call = call_from_text("penumbral");
  AttentionInput<Bfloat16> many = half_input<Bfloat16>(call, {1, 1, 33000, 300, 64, 3}, 7);
  many.allowed = {};
  many.key_lengths = {};
  many.query.owned().at(0, 0, 100, 5) = Bfloat16(std::nanf(""));
  AttentionInput<Bfloat16> part = many;
  part.query = first_tokens(many.query.dense(), few);
  part.output_grad = first_tokens(many.output_grad.dense(), few);
  const auto gradient = [&](const AttentionInput<Bfloat16>& input) {
    const auto plan = resolve(call, check_extents(input));
    return backward(*plan, input, forward(*plan, input, one_thread()), one_thread()).query;
  };
  const Tensor4<float> found = convert<float>(first_tokens(gradient(many), few));
  const Tensor4<float> expected = convert<float>(gradient(part));
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const bool both_nan = std::isnan(found.data[i]) && std::isnan(expected.data[i]);
    ASSERT_TRUE(both_nan || found.data[i] == expected.data[i]) << i;
  }
  EXPECT_TRUE(std::isnan(found.at(0, 0, 100, 0)) && std::isfinite(found.at(0, 0, 99, 0)));
}

TEST(HalfTypes, ValuesThatAreNotFiniteShowWhereTheyAreSeen) {
  const Call call = call_from_text("dot:masks=causal");
  const Extents extents{1, 1, 20, 20, 8, 8};
  AttentionInput<Float16> input = half_input<Float16>(call, extents, 5);
  input.value.owned().at(0, 0, 10, 2) = Float16(1e9);  // infinite in f16
  input.key.owned().at(0, 0, 15, 0) = Float16(std::nan(""));
  const Tensor4<float> output =
      convert<float>(forward(*resolve(call, extents), input, one_thread()).output);
  EXPECT_TRUE(std::isfinite(output.at(0, 0, 9, 2)));
  EXPECT_TRUE(std::isinf(output.at(0, 0, 10, 2)));
  EXPECT_TRUE(std::isfinite(output.at(0, 0, 10, 3)));
  EXPECT_TRUE(std::isnan(output.at(0, 0, 15, 3)));
}

INSTANTIATE_TEST_SUITE_P(Similarity, HalfTypes, testing::ValuesIn(rounded_variants()),
                         variant_name);

}  // namespace
}  // namespace conelab::tests
