// The portable kernels' tile code, run on the host, with every similarity: fast = reference,
// gradients = the CPU's. pairs_test.cpp has the other parts of calls.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "gpu/tile/product.h"
#include "tests/core/tiles/model_memory.h"
#include "tests/gpu/agreement.h"

namespace conelab::gpu::tests {
namespace {

using conelab::tests::ModelMemory;

const std::vector<Parts>& all_parts() {
  static const std::vector<Parts> parts{
      {"alibi", {"causal"}, "softmax", "mean", true},
      {"hype", {"window", "causal"}, "softmax", "einstein", true},
      {"none", {"explicit", "padding"}, "softmax", "mean", false},
      {"alibi", {"window", "padding"}, "sigmoid", "einstein", true},
      {"none", {"explicit"}, "exp", "mean", true},
      {"none", {"causal"}, "exp", "einstein", false}};
  return parts;
}

std::string describe(const Call& call, const Extents& e) {
  return fmt::format("bias {}, mask {}, {}, {}, n_q {}, n_k {}, d {}, d_v {}", call.bias,
                     call.masks.front(), call.weights, call.aggregate, e.query, e.key, e.feature,
                     e.value);
}

class Portable : public testing::TestWithParam<Variant> {};

TEST_P(Portable, AgreesInEveryPart) {
  std::size_t turn = 0;
  for (const Parts& parts : all_parts()) {
    const Extents extents = with_key_heads({2, 2, 19, 37, 5, 3}, turn++);
    const Call call = make_call(GetParam(), parts, extents);
    SCOPED_TRACE(describe(call, extents));
    expect_agreement(call, random_input(call, extents, 7));
  }
}

TEST_P(Portable, AgreesAroundTheEdgesOfTiles) {
  const std::vector<std::array<std::int64_t, 4>> sizes{
      {0, 5, 3, 1}, {5, 0, 3, 1}, {1, 1, 2, 1}, {65, 63, 33, 33}, {3, 130, 66, 65}, {129, 2, 2, 9}};
  std::uint64_t seed = 100;
  for (const auto& [n_q, n_k, d, d_v] : sizes) {
    const Extents extents{1, 1, n_q, n_k, d, d_v};
    const Call call =
        make_call(GetParam(),
                  {"none", {seed % 2 == 0 ? "causal" : "full"}, "softmax", "mean", false}, extents);
    SCOPED_TRACE(describe(call, extents));
    const double spread = 4 / std::sqrt(static_cast<double>(d) + 1);
    expect_agreement(call, random_input(call, extents, ++seed, spread));
  }
}

/// Tokens without base coordinates and values without numbers: no address is read.
TEST(Columns, MayBeNone) {
  for (const auto& [similarity, d, d_v] :
       {std::tuple{"umbral", 1, 3}, std::tuple{"dot", 0, 3}, std::tuple{"dot", 4, 0}}) {
    const Call call = call_from_text(similarity);
    const Extents extents{1, 1, 5, 7, d, d_v};
    SCOPED_TRACE(describe(call, extents));
    expect_agreement(call, random_input(call, extents, 7, 1));
  }
}

TEST_P(Portable, KeepsFloatsPrecision) {
  const Extents extents{1, 2, 70, 130, 17, 9};
  const Call call = make_call(GetParam(), {"none", {"causal"}, "softmax", "mean", false}, extents);
  const auto input = convert<float>(random_input(call, extents, 3));
  const auto wide = convert<double>(input);
  const Emulation<float> found = emulate(call, input, Storage::f32);
  const auto exact = reference::evaluate(reference::make_problem(call, wide));
  EXPECT_LE(difference(found.forward.output, exact.output), 2e-5);
  const auto plan = resolve(call, check_extents(wide));
  const Backward<double> gradient =
      backward(*plan, wide, forward(*plan, wide, one_thread()), one_thread());
  EXPECT_LE(difference(found.backward.query, gradient.query), 2e-4);
  EXPECT_LE(difference(found.backward.key, gradient.key), 2e-4);
  EXPECT_LE(difference(found.backward.value, gradient.value), 2e-5);
}

/// 16-bit numbers as the float64 numbers that they are.
std::vector<std::byte> widened(const std::vector<std::byte>& narrow, Storage storage) {
  std::vector<std::byte> wide(narrow.size() * 4);
  for (std::size_t i = 0; i < narrow.size() / 2; ++i) {
    const auto x = load<double>(narrow.data(), storage, static_cast<std::int64_t>(i));
    std::memcpy(wide.data() + 8 * i, &x, 8);
  }
  return wide;
}

TEST_P(Portable, ReadsSixteenBitsAsTheNumbersThatTheyAre) {
  const Extents extents{1, 2, 40, 70, 9, 5};
  for (const Parts& parts : all_parts()) {
    const Call call = make_call(GetParam(), parts, extents);
    const AttentionInput<double> input = random_input(call, extents, 17);
    for (const Storage storage : {Storage::bf16, Storage::f16}) {
      SCOPED_TRACE(describe(call, extents) + (storage == Storage::bf16 ? ", bf16" : ", f16"));
      const Emulation<double> narrow = emulate(call, input, storage);
      Operands<double> operands = narrow.operands;
      operands.shape.storage = Storage::f64;
      for (auto* numbers : {&operands.query_base, &operands.key_base, &operands.value}) {
        *numbers = widened(*numbers, storage);
      }
      const Emulation<double> wide = emulate(narrow.plan, input, std::move(operands));
      EXPECT_EQ(narrow.forward.output.data, wide.forward.output.data);
      EXPECT_EQ(narrow.forward.lse.data, wide.forward.lse.data);
      EXPECT_EQ(narrow.backward.query.data, wide.backward.query.data);
      EXPECT_EQ(narrow.backward.key.data, wide.backward.key.data);
      EXPECT_EQ(narrow.backward.value.data, wide.backward.value.data);
      EXPECT_EQ(narrow.backward.parameters, wide.backward.parameters);
    }
  }
}

TEST_P(Portable, KeepsFloatsPrecisionOnSixteenBits) {
  const Extents extents{1, 2, 70, 130, 17, 9};
  const Call call = make_call(GetParam(), {"none", {"causal"}, "softmax", "mean", false}, extents);
  const auto input = convert<float>(random_input(call, extents, 3));
  for (const Storage storage : {Storage::bf16, Storage::f16}) {
    SCOPED_TRACE(storage == Storage::bf16 ? "bf16" : "f16");
    const Emulation<float> found = emulate(call, input, storage);
    const Emulation<double> exact = emulate(call, convert<double>(input), storage);
    EXPECT_LE(difference(found.forward.output, exact.forward.output), 2e-5);
    EXPECT_LE(difference(found.backward.query, exact.backward.query), 2e-4);
    EXPECT_LE(difference(found.backward.key, exact.backward.key), 2e-4);
    EXPECT_LE(difference(found.backward.value, exact.backward.value), 2e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Similarities, Portable, testing::ValuesIn(pair_variants()),
                         conelab::tests::variant_name);

AttentionInput<double> small_input(const Call& call, const Extents& extents) {
  return random_input(call, extents, 11);
}

TEST(Storage, OfSixteenBitsRoundsBaseAndValuesAndNothingElse) {
  const Extents extents{1, 1, 20, 33, 6, 4};
  for (const char* similarity : {"dot", "laplacian"}) {
    const Call call = call_from_text(similarity);
    AttentionInput<double> input = small_input(call, extents);
    input.key_lengths.clear();
    input.allowed.clear();
    const auto exact = reference::evaluate(reference::make_problem(call, input));
    for (const Storage storage : {Storage::bf16, Storage::f16}) {
      AttentionInput<double> rounded = input;
      for (auto* t : {&rounded.query, &rounded.key, &rounded.value}) {
        for (double& x : t->owned().data) {
          x = storage == Storage::bf16 ? from_bf16(to_bf16(x)) : from_f16(to_f16(x));
        }
      }
      SCOPED_TRACE(similarity);
      const auto same = reference::evaluate(reference::make_problem(call, rounded));
      const Emulation<double> found = emulate(call, input, storage);
      EXPECT_LE(difference(found.forward.output, same.output), 1e-12);
      EXPECT_GT(difference(found.forward.output, exact.output), 1e-5);
      const auto plan = resolve(call, check_extents(rounded));
      const Forward<double> saved = forward(*plan, rounded, one_thread());
      expect_gradients(found.backward, backward(*plan, rounded, saved, one_thread()), 1e-9);
    }
  }
}

/// Heights of 16 bits would move a cone by up to a hundredth of its height.
TEST(Storage, OfSixteenBitsKeepsHeightsInFull) {
  const Extents extents{1, 1, 20, 33, 6, 4};
  for (const char* similarity : {"umbral", "penumbral"}) {
    const Call call = call_from_text(similarity);
    const auto input = convert<float>(small_input(call, extents));
    const auto plan = resolve(call, check_extents(input));
    const Operands<float> full = make_operands(*plan, input, Storage::f32, {});
    const Operands<float> narrow = make_operands(*plan, input, Storage::bf16, {});
    ASSERT_FALSE(full.query_values.empty());
    EXPECT_EQ(narrow.query_values, full.query_values) << similarity;
    EXPECT_EQ(narrow.key_values, full.key_values) << similarity;
    EXPECT_LT(narrow.query_base.size(), full.query_base.size());
  }
}

TEST(Operands, AreThoseOfADenseCopyForStridedInputs) {
  const Extents extents{2, 2, 9, 11, 8, 8};
  for (const char* text :
       {"penumbral", "dot:bias=shaw:clip=3:shaw_k=random:shaw_v=random", "dot:axis=query"}) {
    SCOPED_TRACE(text);
    const Call call = with_random_tensors(call_from_text(text));
    const AttentionInput<float> dense = convert<float>(random_input(call, extents, 21));
    ModelMemory<float> memory(std::nan(""));
    const Emulation<float> found = emulate(call, memory.place(dense), Storage::f32);
    const Emulation<float> expected = emulate(call, dense, Storage::f32);
    EXPECT_EQ(found.forward.output.data, expected.forward.output.data);
    EXPECT_EQ(found.backward.query.data, expected.backward.query.data);
    EXPECT_EQ(found.backward.key.data, expected.backward.key.data);
    EXPECT_EQ(found.backward.value.data, expected.backward.value.data);
    EXPECT_EQ(found.backward.tensors, expected.backward.tensors);
  }
}

TEST(CloseRecomputation, KeepsTwinsExactInFloat) {
  const Extents extents{1, 1, 64, 64, 8, 2};
  const Call call = call_from_text("laplacian:gamma=20");
  AttentionInput<double> wide = small_input(call, extents);
  wide.key_lengths.clear();
  wide.allowed.clear();
  for (double& x : wide.query.owned().data) x += 30;
  wide.key = wide.query;
  for (std::size_t i = 0; i < wide.key.owned().data.size(); i += 3)
    wide.key.owned().data[i] += 1e-3;
  const auto input = convert<float>(wide);
  const auto exact = reference::evaluate(reference::make_problem(call, convert<double>(input)));
  EXPECT_LE(difference(emulate(call, input, Storage::f32).forward.output, exact.output), 2e-5);
}

/// Gradients of pairs whose coordinates agree in their first four digits: where q_i sum_j W_ij and
/// sum_j W_ij k_j cancel, no digit would be left.
TEST(CloseRecomputation, KeepsGradientsOfTwinsInFloat) {
  const Extents extents{1, 1, 70, 70, 8, 2};
  for (const char* similarity : {"laplacian", "umbral"}) {
    SCOPED_TRACE(similarity);
    const Call call = call_from_text(similarity);
    AttentionInput<double> wide = small_input(call, extents);
    wide.key_lengths.clear();
    wide.allowed.clear();
    auto& tokens = wide.query.owned().data;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i % 8 != 7) tokens[i] = 30 + 0.01 * tokens[i];  // The last number is a cone's height.
    }
    wide.key = wide.query;
    for (std::size_t i = 0; i < tokens.size(); i += 3) wide.key.owned().data[i] += 1e-3;
    const auto input = convert<float>(wide);
    const auto exact = convert<double>(input);
    const Emulation<float> found = emulate(call, input, Storage::f32);
    const auto plan = resolve(call, check_extents(exact));
    const Forward<double> saved = forward(*plan, exact, one_thread());
    const Backward<double> gradient = backward(*plan, exact, saved, one_thread());
    EXPECT_LE(difference(found.backward.query, gradient.query), 2e-3);
    EXPECT_LE(difference(found.backward.key, gradient.key), 2e-3);
  }
}

TEST(Parts, OfAFloatAddUpToItAsTensorCoresReadThem) {
  for (const float x : {1.0f, 1.0f / 3, -3.14159265f, 1e-30f, 6.02e23f, 0.0f}) {
    const auto [large, small] = parts_of<true>(x);
    EXPECT_EQ(truncated(large), large) << x;
    EXPECT_LE(std::abs(x - (large + truncated(small))), std::ldexp(std::abs(x), -23)) << x;
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(truncated(parts_of<true>(x).small))) << x;
  }
}

TEST(NotFinite, StaysInTheRowsThatSeeIt) {
  const Extents extents{1, 1, 9, 9, 4, 3};
  for (const char* similarity : {"dot", "penumbral"}) {
    Call call = call_from_text(similarity);
    call.masks = {"causal"};
    AttentionInput<double> input = small_input(call, extents);
    input.allowed.clear();
    input.key_lengths.clear();
    input.key.owned().at(0, 0, 5, 1) = std::numeric_limits<double>::quiet_NaN();
    input.value.owned().at(0, 0, 7, 2) = std::numeric_limits<double>::infinity();
    const Emulation<double> found = emulate(call, input, Storage::f64);
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(std::isnan(found.forward.output.at(0, 0, i, 0)), i >= 5) << similarity << i;
    }
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(std::isfinite(found.backward.query.at(0, 0, i, 0)));
  }
}

/// A token whose coordinates f16 cannot hold, 4 e^10 > 65,504, makes rows NaN that see it, and no
/// other gradient.
TEST(NotFinite, AreTokensBeyondTheRangeOfTheirStorage) {
  const Call call = call_from_text("umbral:masks=causal");
  AttentionInput<double> input = small_input(call, {1, 1, 70, 70, 8, 3});
  input.allowed.clear();
  input.key_lengths.clear();
  for (int c = 0; c < 7; ++c) input.key.owned().at(0, 0, 60, c) = 4;
  input.key.owned().at(0, 0, 60, 7) = 10;
  const Emulation<double> found = emulate(call, input, Storage::f16);
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(std::isnan(found.forward.output.at(0, 0, i, 0)), i >= 60) << i;
    EXPECT_EQ(std::isfinite(found.backward.query.at(0, 0, i, 0)), i < 60) << i;
  }
}

TEST(Operands, GiveBlocksTheKeysThatTheirQueriesSee) {
  const Call call = call_from_text("dot:masks=causal+window:window=10");
  const Extents extents{1, 1, 130, 200, 4, 4};
  AttentionInput<double> input = small_input(call, extents);
  input.allowed.clear();
  input.key_lengths.clear();
  const auto plan = resolve(call, check_extents(input));
  const Operands<double> operands = make_operands(*plan, input, Storage::f64, {});
  ASSERT_EQ(operands.block_span.size(), 3u);
  EXPECT_EQ(operands.block_span[0].any.begin, 61);
  EXPECT_EQ(operands.block_span[0].any.end, 134);
  EXPECT_EQ(operands.block_span[2].any.end, 200);
}

}  // namespace
}  // namespace conelab::gpu::tests
