// The fast path's forward pass without a GPU: the kernels' arithmetic, run for all threads of a
// warpgroup around a matrix unit written from the documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "gpu/hopper/fast.h"
#include "gpu/hopper/forward_block.h"
#include "gpu/hopper/numbers.h"
#include "gpu/tile/visit_similarity.h"
#include "tests/core/tiles/cases.h"
#include "tests/gpu/emulate.h"
#include "tests/gpu/emulated_block.h"
#include "tests/gpu/fast_cases.h"
#include "tests/gpu/matrix_unit.h"

namespace conelab::gpu::tests {
namespace {

using conelab::tests::difference;
using conelab::tests::random_input;
using namespace hopper;

/// The forward kernel, block by block; every fault of the block is a fault of the test.
template <class S, class Type, int width, bool turns, Law law>
void emulate_fast(const FastProblem& p, const ForwardResult<float>& result) {
  constexpr hopper::Variant v = hopper::variants[turns ? 0 : 1];
  static_assert(v.turns == turns);
  using Block = ForwardBlock<S, Type, width, v.consumers, v.stages, turns, law>;
  using Group = EmulatedGroup<Block, Type>;
  for (int block = 0; block < Block::blocks(p.call); ++block) {
    const auto seed = static_cast<std::uint64_t>(block + 1);
    ASSERT_NO_THROW((run_block<Block, Group>(block, p, result, seed)));
  }
}

class Fast : public testing::TestWithParam<Variant> {};

/// The call's result with one variant of the kernel; NaN where it writes nothing.
template <class Type, bool turns>
Forward<float> run_fast(const Plan& plan, const AttentionInput<float>& input) {
  const auto operands = make_operands(plan, input, Type::storage, {});
  const auto pointer = [](auto& array) { return array.empty() ? nullptr : array.data(); };
  const Problem<float> p = operands.view(pointer);
  const auto index = static_cast<int>(plan.similarity - similarity_table().data());
  const int width = fast_width(index, p);
  EXPECT_NE(width, 0);
  const FastOperands packed = pack_operands(p, width, plan.similarity->values);
  const std::vector<float> bias = pack_bias(index, p);
  EXPECT_TRUE(fast_constants(index, p));
  const FastProblem problem{
      p,          packed.query.data(), packed.key.data(), packed.value.data(), packed.facts.data(),
      bias.data()};
  ForwardSums<float> sums(p);
  for (auto* array : {&sums.output, &sums.maximum, &sums.sum}) {
    std::fill(array->begin(), array->end(), std::numeric_limits<float>::quiet_NaN());
  }
  const ForwardResult<float> result{sums.output.data(), sums.maximum.data(), sums.sum.data()};
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (is_fast<S>) {
      const auto run = [&]<Law law>() {
        if (width == 64) emulate_fast<S, Type, 64, turns, law>(problem, result);
        if (width == 128) emulate_fast<S, Type, 128, turns, law>(problem, result);
      };
      const Law law = fast_law(p);
      if (law == Law::softmax) return run.template operator()<Law::softmax>();
      if constexpr (turns) {
        if (law == Law::biased) run.template operator()<Law::biased>();
        if (law == Law::sigmoid) run.template operator()<Law::sigmoid>();
      }
    }
  });
  return finish_forward(plan, input, operands, sums);
}

template <class Type, bool turns>
void expect_fast(const Call& call, const AttentionInput<float>& input, double tolerance) {
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> found = run_fast<Type, turns>(*plan, input);
  // The portable path reads the same rounded operands, in double.
  const Forward<double> portable =
      emulate(call, convert<double>(input), Type::storage, false).forward;
  EXPECT_LE(difference(found.output, portable.output), tolerance);
  for (std::size_t i = 0; i < portable.lse.data.size(); ++i) {
    const auto lse = static_cast<double>(portable.lse.data[i]);
    if (std::isinf(lse)) {
      EXPECT_EQ(found.lse.data[i], lse);
    } else {
      EXPECT_NEAR(found.lse.data[i], lse, 2e-4 * std::max(1.0, std::abs(lse)));
    }
  }
}

TEST_P(Fast, AgreesWithThePortablePath) {
  // Tails on both sides, rows that see nothing, a second consumer without queries, more tiles than
  // stages, tiles that one consumer skips.
  const std::vector<FastSize> sizes{{65, 130, 64, 64, "causal"},  {20, 200, 33, 17, "full"},
                                    {70, 70, 100, 128, "causal"}, {130, 700, 16, 16, "causal"},
                                    {330, 65, 24, 8, "causal"},   {200, 500, 40, 16, "window"}};
  for_fast_sizes(GetParam(), sizes, 1, [](const Call& call, const AttentionInput<float>& input) {
    expect_fast<Bf16, true>(call, input, 1e-2);
    expect_fast<F16, false>(call, input, 2e-3);
  });
}

TEST_P(Fast, AddsBiasesAndKnowsSigmoids) {
  // More queries than keys and the reverse, so that offsets of both signs are far; several blocks.
  const std::vector<FastSize> sizes{
      {65, 130, 64, 64, "causal"}, {200, 330, 100, 40, "full"}, {330, 65, 24, 8, "window"}};
  for (const FastPart& part : biased_parts) {
    const auto check = [](const Call& call, const AttentionInput<float>& input) {
      expect_fast<Bf16, true>(call, input, 1e-2);
      expect_fast<F16, true>(call, input, 2e-3);
    };
    for_fast_sizes(GetParam(), sizes, 1, check, part);
  }
}

TEST(FastCones, HaveTheErrorsOfBf16) {
  for_cones([](const Call& call, const AttentionInput<float>& input) {
    const Forward<float> found = run_fast<Bf16, true>(*resolve(call, check_extents(input)), input);
    const Forward<double> exact =
        emulate(call, convert<double>(input), Storage::bf16, false).forward;
    EXPECT_LE(relative_error(found.output.data, exact.output.data), 1.5 * 1.4e-3);
  });
}

class NotFinite : public testing::TestWithParam<std::tuple<Variant, FastPart>> {};

TEST_P(NotFinite, StaysInTheRowsThatSeeIt) {
  const Extents extents{1, 1, 130, 150, 8, 5};
  const auto& [variant, part] = GetParam();
  const Call call = fast_call(variant, "causal", extents, part);
  auto input = convert<float>(random_input(call, extents, 5, 0.5));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  input.query.owned().at(0, 0, 3, 1) = nan;
  input.key.owned().at(0, 0, 140, 2) = nan;
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> found = run_fast<Bf16, true>(*plan, input);
  for (int i = 0; i < 130; ++i) {
    const bool sees_it = i == 3 || i + 20 >= 140;
    EXPECT_EQ(std::isnan(found.output.at(0, 0, i, 4)), sees_it) << i;
    EXPECT_EQ(std::isnan(found.lse.at(0, 0, i, 0)), sees_it) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Similarities, Fast, testing::ValuesIn(fast_variants()),
                         conelab::tests::variant_name);
INSTANTIATE_TEST_SUITE_P(Similarities, NotFinite,
                         testing::Combine(testing::ValuesIn(fast_variants()),
                                          testing::Values(plain, FastPart{"alibi", "softmax"},
                                                          FastPart{"none", "sigmoid"})));

}  // namespace
}  // namespace conelab::gpu::tests
