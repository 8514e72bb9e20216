// Float32 against float64, on random tokens and on the tokens of a real model.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/call/composed.h"
#include "core/files/hdf5_read.h"
#include "core/simd/kernels.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

double largest_entry(const Tensor4<double>& t) {
  double most = 0;
  for (const double x : t.data) most = std::max(most, std::abs(x));
  return most;
}

/// Logits agree to 1e-5 of their size; outputs to 1e-5 as long as float32 resolves the logits to
/// that: a logit of 1000 is known to 6e-5 only, and a weight no better.
void expect_close(const Call& call, const AttentionInput<float>& narrow) {
  const AttentionInput<double> wide = convert<double>(narrow);
  const Answer<float> found = run(call, narrow, {});
  const Answer<double> exact = run(call, wide, {});
  const double blur = std::max(1.0, largest_entry(exact.logits) / 50);
  // The mapped tokens of a composed similarity are rounded too.
  const double tolerance = find_composed(call.similarity) == nullptr ? 1e-5 : 2e-5;
  EXPECT_LE(difference(found.logits, exact.logits), tolerance);
  EXPECT_LE(difference(found.forward.output, exact.forward.output), 1e-5 * blur);
  EXPECT_LE(difference(found.forward.lse, exact.forward.lse), 1e-5);
}

/// Without the variants whose tokens must already be points.
std::vector<Variant> free_variants() {
  std::vector<Variant> free;
  for (const Variant& v : variants()) {
    Call call = v.call;
    call.map.clear();
    const std::string own_map = resolve(call, {1, 1, 2, 2, 3, 1})->call.map;
    if (v.call.map == own_map) free.push_back(v);
  }
  return free;
}

class Precision : public testing::TestWithParam<Variant> {};

TEST_P(Precision, OnRandomTokens) {
  const Extents extents{1, 1, 1025, 1025, 64, 33};
  const Call& call = GetParam().call;
  expect_close(call, convert<float>(random_input(call, extents, 1, 1)));
}

/// The weights that backward computes again sum to one by forward's sum, whatever their logits'
/// size: both must have rounded the logits alike. Of one query and upstream 1 they are dL/dv. (Few
/// queries have no short formulas, twelve may have.)
TEST_P(Precision, OfForwardAndBackwardIsTheSame) {
  const Call& call = GetParam().call;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const double spread = seed % 2 == 0 ? 1 : 3;
    const std::int64_t queries = seed % 3 == 0 ? 12 : 1;
    auto input = convert<float>(random_input(call, {1, 1, queries, 300, 64, 1}, seed, spread));
    input.output_grad = Tensor4<float>({1, 1, queries, 1}, 0);
    input.output_grad.owned().data[static_cast<std::size_t>(queries) / 2] = 1;
    const auto plan = resolve(call, check_extents(input));
    const auto gradient = backward(*plan, input, forward(*plan, input));
    double sum = 0;
    for (const float weight : gradient.value.data) sum += static_cast<double>(weight);
    EXPECT_NEAR(sum, 1, 2e-6) << seed;
  }
}

/// Just outside each other's cones near the light, where s is small beside the heights, the terms
/// of a product of sums cancel: unnoticed, logits erred by 2e-5 (avx512). Of one key the
/// log-sum-exp is the logit.
TEST(NearTheLight, PenumbralLogitsKeepTheirDigits) {
  constexpr double coordinate = 8, s = 0.0259;  // The map's, and s of such a token.
  const Call call = call_from_text("penumbral");
  AttentionInput<float> input = convert<float>(random_input(call, {1, 1, 64, 1, 3, 1}, 4, 1));
  for (auto* tokens : {&input.query, &input.key}) {
    for (std::int64_t i = 0; i < tokens->shape.token; ++i) {
      float* x = tokens->owned().row(0, 0, i);
      const double angle = 0.1 * static_cast<double>(i), reach = (2.1 + 0.02 * i) * s;
      x[0] = tokens == &input.key ? 0 : static_cast<float>(reach * std::cos(angle));
      x[1] = tokens == &input.key ? 0 : static_cast<float>(reach * std::sin(angle));
      x[2] = static_cast<float>(coordinate + 0.1 * x[2]);
    }
  }
  const auto plan = resolve(call, check_extents(input));
  const Forward<double> exact = forward(*plan, convert<double>(input));
  for (const std::string& target : simd_targets()) {
    const Execution execution = with_threads(0, target);
    EXPECT_LE(difference(forward(*plan, input, execution).lse, exact.lse), 4e-7) << target;
  }
}

/// A tensor [head × n × d] of a file.
Tensor4<float> read_heads(const hdf5::File& file, const std::string& path) {
  const hdf5::Where where{"minilm_trace.h5", path};
  const hdf5::Dataset dataset = hdf5::open_dataset(file, where);
  const hdf5::Stored stored = hdf5::describe(dataset, where, {});
  if (stored.type != "f32" || stored.extents.size() != 3) {
    throw std::runtime_error(path + " is not [head × n × d] of f32 but " + stored.type);
  }
  Tensor4<float> t({1, stored.extents[0], stored.extents[1], stored.extents[2]});
  hdf5::read_numbers(dataset, stored, t.data.data(), where, {});
  return t;
}

AttentionInput<float> trace(const std::string& group) {
  const hdf5::Lock lock;
  const hdf5::File file = hdf5::open_file(CONELAB_SOURCE_DIR "/datasets/minilm_trace.h5");
  AttentionInput<float> input;
  input.query = read_heads(file, group + "/q");
  input.key = read_heads(file, group + "/k");
  input.value = read_heads(file, group + "/v");
  return input;
}

TEST_P(Precision, OnTheTokensOfARealModel) {
  for (const char* group : {"/german/layer0", "/german/layer5", "/taxonomy/layer3"}) {
    SCOPED_TRACE(group);
    AttentionInput<float> input = trace(group);
    draw_tensors(GetParam().call, input);
    expect_close(GetParam().call, input);
  }
}

TEST_P(Precision, OfTheReferenceOnTheTokensOfARealModel) {
  AttentionInput<double> input = convert<double>(trace("/english/layer5"));
  draw_tensors(GetParam().call, input);
  const auto expected = reference::evaluate(reference::make_problem(GetParam().call, input));
  const Answer<double> found = run(GetParam().call, input);
  EXPECT_LE(difference(found.logits, expected.logits), 1e-12);
  EXPECT_LE(difference(found.forward.output, expected.output), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Similarity, Precision, testing::ValuesIn(free_variants()), variant_name);

}  // namespace
}  // namespace conelab::tests
