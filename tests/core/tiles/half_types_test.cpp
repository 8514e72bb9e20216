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
  Execution execution = one_thread();
  execution.simd = simd_targets<double>().front();
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
    const Extents extents{2, 2, 50, 70, 9, 5};
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
  Call call;
  call.similarity = "laplacian";
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
  Call call;
  call.similarity = "penumbral";
  AttentionInput<Bfloat16> many = half_input<Bfloat16>(call, {1, 1, 33000, 300, 64, 3}, 7);
  many.allowed = {};
  many.key_lengths = {};
  many.query.at(0, 0, 100, 5) = Bfloat16(std::nanf(""));
  AttentionInput<Bfloat16> part = many;
  part.query = first_tokens(many.query, few);
  part.output_grad = first_tokens(many.output_grad, few);
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
  Call call;
  call.similarity = "dot";
  call.masks = {"causal"};
  const Extents extents{1, 1, 20, 20, 8, 8};
  AttentionInput<Float16> input = half_input<Float16>(call, extents, 5);
  input.value.at(0, 0, 10, 2) = Float16(1e9);  // infinite in f16
  input.key.at(0, 0, 15, 0) = Float16(std::nan(""));
  const Tensor4<float> output =
      convert<float>(forward(*resolve(call, extents), input, one_thread()).output);
  EXPECT_TRUE(std::isfinite(output.at(0, 0, 9, 2)));
  EXPECT_TRUE(std::isinf(output.at(0, 0, 10, 2)));
  EXPECT_TRUE(std::isfinite(output.at(0, 0, 10, 3)));
  EXPECT_TRUE(std::isnan(output.at(0, 0, 15, 3)));
}

/// The plain formula in S at its best: exact sums and functions, each result rounded to S as a
/// library does that stores its intermediates in the type of the tensors.
template <class S>
struct Plain {
  Tensor4<double> output, query, key, value;

  static double rounded(double x) { return static_cast<double>(float(S(x))); }
  static void round(Tensor4<double>& t) {
    std::transform(t.data.begin(), t.data.end(), t.data.begin(), rounded);
  }
};

/// out [a.token × columns] = sum over j of f(i, j) b_j
template <class F>
Tensor4<double> weighted_sum(std::int64_t rows, std::int64_t terms, const Tensor4<double>& b, F f) {
  Tensor4<double> out({1, 1, rows, b.shape.feature});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < terms; ++j) {
      const double w = f(i, j);
      for (std::int64_t c = 0; c < b.shape.feature; ++c) out.at(0, 0, i, c) += w * b.at(0, 0, j, c);
    }
  }
  return out;
}

double dot_of(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t c = 0; c < n; ++c) sum += a[c] * b[c];
  return sum;
}

/// One head; the gradients are those of `dot`.
template <class S>
Plain<S> plain(const Call& call, const AttentionInput<double>& in) {
  const auto plan = resolve(call, check_extents(in));
  Tensor4<double> weights = attention_map(*plan, in, Map2d::logits, one_thread());
  const std::int64_t n_q = weights.shape.token, n_k = weights.shape.feature;
  const std::int64_t d = in.query.shape.feature, d_v = in.value.shape.feature;
  for (std::int64_t i = 0; i < n_q; ++i) {
    double* row = weights.row(0, 0, i);
    for (std::int64_t j = 0; j < n_k; ++j) row[j] = Plain<S>::rounded(row[j]);
    const double most = *std::max_element(row, row + n_k);
    double sum = 0;
    for (std::int64_t j = 0; j < n_k; ++j) sum += row[j] = std::exp(row[j] - most);
    for (std::int64_t j = 0; j < n_k; ++j) row[j] = Plain<S>::rounded(row[j] / sum);
  }
  Plain<S> p;
  p.output =
      weighted_sum(n_q, n_k, in.value, [&](auto i, auto j) { return weights.at(0, 0, i, j); });
  Plain<S>::round(p.output);
  Tensor4<double> slope = weights;  // dL/d(q.k)
  for (std::int64_t i = 0; i < n_q; ++i) {
    const double* up = in.output_grad.row(0, 0, i);
    const double delta = Plain<S>::rounded(dot_of(up, p.output.row(0, 0, i), d_v));
    for (std::int64_t j = 0; j < n_k; ++j) {
      const double by_weight = Plain<S>::rounded(dot_of(up, in.value.row(0, 0, j), d_v));
      double& s = slope.at(0, 0, i, j);
      s = Plain<S>::rounded(s * (by_weight - delta)) / std::sqrt(static_cast<double>(d));
    }
  }
  p.query = weighted_sum(n_q, n_k, in.key, [&](auto i, auto j) { return slope.at(0, 0, i, j); });
  p.key = weighted_sum(n_k, n_q, in.query, [&](auto j, auto i) { return slope.at(0, 0, i, j); });
  p.value = weighted_sum(n_k, n_q, in.output_grad,
                         [&](auto j, auto i) { return weights.at(0, 0, i, j); });
  for (Tensor4<double>* t : {&p.query, &p.key, &p.value}) Plain<S>::round(*t);
  return p;
}

template <class A>
double error(const Tensor4<A>& found, const Tensor4<double>& exact) {
  double most = 0;
  for (std::size_t i = 0; i < exact.data.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(found.data[i]) - exact.data[i]));
  }
  return most;
}

template <class S>
void expect_no_worse_than_plain(const Call& call) {
  const Extents extents{1, 1, 600, 600, 64, 64};
  const AttentionInput<S> input = half_input<S>(call, extents, 9);
  const AttentionInput<double> wide = convert<double>(input);
  const auto plan = resolve(call, extents);
  const Forward<S> saved = forward(*plan, input, one_thread());
  const Forward<double> exact = forward(*plan, wide, one_thread());
  const Plain<S> other = plain<S>(call, wide);
  EXPECT_LE(error(saved.output, exact.output), error(other.output, exact.output))
      << call.similarity;
  if (call.similarity != "dot") return;
  const Backward<S> mine = backward(*plan, input, saved, one_thread());
  const Backward<double> truth = backward(*plan, wide, exact, one_thread());
  EXPECT_LE(error(mine.query, truth.query), 2 * error(other.query, truth.query));
  EXPECT_LE(error(mine.key, truth.key), 2 * error(other.key, truth.key));
  EXPECT_LE(error(mine.value, truth.value), 2 * error(other.value, truth.value));
}

TEST(HalfTypes, ErrorsAreThoseOfThePlainFormulaOrSmaller) {
  for (const PartInfo& similarity : list_similarities()) {
    Call call;
    call.similarity = similarity.name;
    expect_no_worse_than_plain<Float16>(call);
    expect_no_worse_than_plain<Bfloat16>(call);
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, HalfTypes, testing::ValuesIn(rounded_variants()),
                         variant_name);

}  // namespace
}  // namespace conelab::tests
