// The fast path without a GPU: layouts by index arithmetic, budgets, and the consumer's arithmetic
// run for all threads of a warpgroup around a matrix unit written from the documents.
#include <gtest/gtest.h>

#include <set>

#include "gpu/fold.h"
#include "gpu/hopper/fast.h"
#include "gpu/hopper/forward_block.h"
#include "gpu/hopper/numbers.h"
#include "tests/core/attention/cases.h"
#include "tests/gpu/emulate.h"
#include "tests/gpu/emulated_block.h"
#include "tests/gpu/emulated_gradient.h"
#include "tests/gpu/matrix_unit.h"

namespace conelab::gpu::tests {
namespace {

using conelab::tests::difference;
using conelab::tests::make_call;
using conelab::tests::Parts;
using conelab::tests::random_input;
using conelab::tests::Variant;
using conelab::tests::variants;
using namespace hopper;

TEST(Swizzle, IsABijectionThatKeepsSixteenBytesTogether) {
  for (const int width : {64, 128}) {
    std::set<int> seen;
    for (int r = 0; r < key_tile; ++r) {
      for (int c = 0; c < width; ++c) {
        const int at = swizzled(key_tile, r, c);
        EXPECT_EQ(at - swizzled(key_tile, r, c / 8 * 8), c % 8 * 2);
        seen.insert(at);
      }
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(key_tile * width));
    EXPECT_EQ(*seen.rbegin(), tile_bytes(key_tile, width) - 2);
  }
}

TEST(Swizzle, SpreadsEightRowsOverAllBanks) {
  for (int chunk = 0; chunk < 8; ++chunk) {
    std::set<int> banks;
    for (int r = 0; r < 8; ++r) banks.insert(swizzled(64, r, 8 * chunk) % 128 / 16);
    EXPECT_EQ(banks.size(), 8u);
  }
}

TEST(Fragments, OfAccumulatorsCoverTheTileOnce) {
  std::set<std::pair<int, int>> seen;
  for (int t = 0; t < group_threads; ++t) {
    for (int i = 0; i < key_tile / 2; ++i) {
      seen.insert({accumulator_row(t, i), accumulator_column(t, i)});
    }
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(group_rows * key_tile));
}

TEST(Fragments, OfWeightsAreTheAccumulatorsOfTheProductBefore) {
  for (int t = 0; t < group_threads; ++t) {
    for (int step = 0; step < key_tile / 16; ++step) {
      for (int r = 0; r < 4; ++r) {
        for (int half = 0; half < 2; ++half) {
          const int i = 8 * step + 2 * r + half;
          EXPECT_EQ(left_row(t, r), accumulator_row(t, i));
          EXPECT_EQ(16 * step + left_column(t, r, half), accumulator_column(t, i));
        }
      }
    }
  }
}

TEST(Descriptors, FindEveryElementOfBothOperands) {
  for (const int width : {64, 128}) {
    Image image(static_cast<std::size_t>(tile_bytes(key_tile, width)));
    const auto number = [&](int r, int c) { return static_cast<std::uint16_t>(r * width + c); };
    for (int r = 0; r < key_tile; ++r) {
      for (int c = 0; c < width; ++c) {
        const std::uint16_t bits = number(r, c);
        std::memcpy(image.data() + swizzled(key_tile, r, c), &bits, 2);
      }
    }
    for (int c = 0; c < width; ++c) {
      for (int r = 0; r < key_tile; ++r) {
        ASSERT_EQ(
            operand_element(image, depth_descriptor(0, key_tile, c / 16), Major::depth, r, c % 16),
            number(r, c));
        ASSERT_EQ(
            operand_element(image, outer_descriptor(0, key_tile, r / 16), Major::outer, c, r % 16),
            number(r, c));
      }
    }
  }
}

TEST(Budget, FitsForEveryKernelThatIsBuilt) {
  for (const auto& variant : hopper::variants) {
    for (const int width : {64, 128}) {
      const Budget budget{variant.consumers, width, 3, variant.stages};
      const int registers =
          producer_registers + variant.consumers * consumer_registers(variant.consumers);
      EXPECT_LE(registers * group_threads, register_limit);
      EXPECT_LE(budget.total(), shared_limit);
      EXPECT_EQ(budget.query_bytes() % 1024, 0);
      EXPECT_EQ(budget.stage_bytes() % 1024, 0);
      EXPECT_EQ(budget.fact_bytes() % 16, 0);
    }
  }
}

/// The forward kernel, block by block; every fault of the block is a fault of the test.
template <class S, class Type, int width, bool turns>
void emulate_fast(const FastProblem& p, const ForwardResult<float>& result) {
  constexpr hopper::Variant v = hopper::variants[turns ? 0 : 1];
  static_assert(v.turns == turns);
  using Block = ForwardBlock<S, Type, width, v.consumers, v.stages, turns>;
  using Group = EmulatedGroup<Block, Type>;
  for (int block = 0; block < Block::blocks(p.call); ++block) {
    const auto seed = static_cast<std::uint64_t>(block + 1);
    ASSERT_NO_THROW((run_block<Block, Group>(block, p, result, seed)));
  }
}

/// The backward kernel of one owner, likewise.
template <class S, class Type, int width, Owner owner>
void emulate_owner(const FastGradient& g, GradientSums<float>& sums) {
  using Block = GradientBlock<S, Type, width, owner>;
  using Group = EmulatedGradientGroup<Block>;
  const GradientResult<float> result{sums.query_base.data(), sums.query_potential.data(),
                                     sums.key_base.data(),   sums.key_potential.data(),
                                     sums.value.data(),      sums.sums.data()};
  for (int block = 0; block < Block::blocks(g.call); ++block) {
    const auto seed = static_cast<std::uint64_t>(block + 1);
    ASSERT_NO_THROW((run_block<Block, Group>(block, g, result, seed)));
  }
}

/// |a - b| / |b|: what 16-bit rounding of weights leaves is noise, not bias.
template <class A, class B>
double relative_error(const A& found, const B& expected) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(static_cast<double>(found[i]) - static_cast<double>(expected[i]), 2);
    size += std::pow(static_cast<double>(expected[i]), 2);
  }
  return std::sqrt(difference / std::max(size, 1e-30));
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
  const FastProblem problem{p, packed.query.data(), packed.key.data(), packed.value.data(),
                            packed.facts.data()};
  ForwardSums<float> sums(p);
  for (auto* array : {&sums.output, &sums.maximum, &sums.sum}) {
    std::fill(array->begin(), array->end(), std::numeric_limits<float>::quiet_NaN());
  }
  const ForwardResult<float> result{sums.output.data(), sums.maximum.data(), sums.sum.data()};
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if (width == 64) emulate_fast<S, Type, 64, turns>(problem, result);
    if (width == 128) emulate_fast<S, Type, 128, turns>(problem, result);
  });
  return finish_forward(plan, input, operands, sums);
}

template <class Type, bool turns>
void expect_fast(const Call& call, const AttentionInput<float>& input, double tolerance) {
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> found = run_fast<Type, turns>(*plan, input);
  // The portable path reads the same rounded operands, in float.
  const Forward<float> portable = emulate(call, input, Type::storage, false).forward;
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

struct FastSize {
  std::int64_t query, key, feature, value;
  const char* mask;
};

TEST_P(Fast, AgreesWithThePortablePath) {
  // Tails on both sides, rows that see nothing, a second consumer without queries, more tiles than
  // stages, tiles that one consumer skips.
  const std::vector<FastSize> sizes{{65, 130, 64, 64, "causal"},  {20, 200, 33, 17, "full"},
                                    {70, 70, 100, 128, "causal"}, {130, 700, 16, 16, "causal"},
                                    {330, 65, 24, 8, "causal"},   {200, 500, 40, 16, "window"}};
  std::uint64_t seed = 1;
  for (const FastSize& s : sizes) {
    const Extents extents{1, seed % 2 == 0 ? 2 : 1, s.query, s.key, s.feature, s.value};
    Call call = make_call(GetParam(), {"none", {s.mask}, "softmax", "mean", true}, extents);
    const double spread = 3 / std::sqrt(static_cast<double>(s.feature) + 1.0);
    auto input = convert<float>(random_input(call, extents, ++seed, spread));
    std::copy_n(input.query.row(0, 0, 0), s.feature, input.key.row(0, 0, 1));
    SCOPED_TRACE(
        fmt::format("{} n_q {} n_k {} d {} d_v {}", s.mask, s.query, s.key, s.feature, s.value));
    expect_fast<Bf16, true>(call, input, 1e-2);
    expect_fast<F16, false>(call, input, 2e-3);
  }
}

TEST_P(Fast, KeepsWhatIsNotFiniteInTheRowsThatSeeIt) {
  const Extents extents{1, 1, 130, 150, 8, 5};
  const Call call = make_call(GetParam(), {"none", {"causal"}, "softmax", "mean", true}, extents);
  auto input = convert<float>(random_input(call, extents, 5, 0.5));
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  input.query.at(0, 0, 3, 1) = nan;
  input.key.at(0, 0, 140, 2) = nan;
  const auto plan = resolve(call, check_extents(input));
  const Forward<float> found = run_fast<Bf16, true>(*plan, input);
  for (int i = 0; i < 130; ++i) {
    const bool sees_it = i == 3 || i + 20 >= 140;
    EXPECT_EQ(std::isnan(found.output.at(0, 0, i, 4)), sees_it) << i;
    EXPECT_EQ(std::isnan(found.lse.at(0, 0, i, 0)), sees_it) << i;
  }
}

template <class Type>
void expect_fast_gradient(const Call& call, AttentionInput<float> input, double tolerance) {
  for (float& x : input.output_grad.data)
    x = Type::widen(static_cast<std::uint16_t>(Type::pack(x, 0)));
  const Emulation<float> portable = emulate(call, input, Type::storage);
  const auto pointer = [](auto& array) { return array.empty() ? nullptr : array.data(); };
  const Problem<float> p = portable.operands.view(pointer);
  const Plan& plan = *portable.plan;
  const auto index = static_cast<int>(plan.similarity - similarity_table().data());
  const UpstreamArrays<float> upstream = make_upstream(plan, input, p, portable.forward);
  const int width = fast_width(index, p);
  const auto packed =
      pack_gradient_operands(p, upstream.view(pointer), width, plan.similarity->values);
  const FastGradient g{p,
                       packed.query.data(),
                       packed.key.data(),
                       packed.value.data(),
                       packed.output_grad.data(),
                       packed.query_facts.data(),
                       packed.key_facts.data()};
  GradientSums<float> sums(p, plan.similarity->constants);
  for (auto* array : {&sums.query_base, &sums.query_potential, &sums.key_base, &sums.key_potential,
                      &sums.value}) {
    std::fill(array->begin(), array->end(), std::numeric_limits<float>::quiet_NaN());
  }
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if (width == 64) {
      emulate_owner<S, Type, 64, Owner::query>(g, sums);
      emulate_owner<S, Type, 64, Owner::key>(g, sums);
    } else {
      emulate_owner<S, Type, 128, Owner::query>(g, sums);
      emulate_owner<S, Type, 128, Owner::key>(g, sums);
    }
  });
  const Backward<float> found = finish_backward(plan, input, portable.operands, sums);
  EXPECT_LE(relative_error(found.query.data, portable.backward.query.data), tolerance) << "query";
  EXPECT_LE(relative_error(found.key.data, portable.backward.key.data), tolerance) << "key";
  EXPECT_LE(relative_error(found.value.data, portable.backward.value.data), tolerance) << "value";
  // A parameter's slope is a sum over all tokens, whose terms may cancel: they set the scale.
  double scale = 0;
  for (const float x : portable.backward.query.data) scale += static_cast<double>(x) * x;
  for (const auto& [key, values] : portable.backward.parameters) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double bound = tolerance * 5 * std::max(std::abs(values[i]), std::sqrt(scale));
      EXPECT_NEAR(found.parameters.at(key)[i], values[i], bound) << key;
    }
  }
}

TEST_P(Fast, GradientsAgreeWithThePortablePath) {
  // Tails on both sides, tiles in parts, more tiles than stages, tiles that one consumer skips.
  const std::vector<FastSize> sizes{{70, 130, 33, 64, "full"},
                                    {20, 70, 80, 17, "causal"},
                                    {330, 65, 24, 8, "causal"},
                                    {65, 330, 16, 16, "window"}};
  std::uint64_t seed = 20;
  for (const FastSize& s : sizes) {
    const Extents extents{1, 2, s.query, s.key, s.feature, s.value};
    const Call call = make_call(GetParam(), {"none", {s.mask}, "softmax", "mean", true}, extents);
    const double spread = 3 / std::sqrt(static_cast<double>(s.feature) + 1.0);
    auto input = convert<float>(random_input(call, extents, ++seed, spread));
    std::copy_n(input.query.row(0, 0, 0), s.feature, input.key.row(0, 0, 1));
    SCOPED_TRACE(
        fmt::format("{} n_q {} n_k {} d {} d_v {}", s.mask, s.query, s.key, s.feature, s.value));
    expect_fast_gradient<Bf16>(call, input, 1e-2);
    expect_fast_gradient<F16>(call, input, 2e-3);
  }
}

std::vector<Variant> fast_variants() {
  std::vector<Variant> fast;
  for (const Variant& v : variants()) {
    const bool paper =
        v.call.parameters.count("convention") == 0 || v.call.parameters.at("convention") == "paper";
    const std::string& name = v.call.similarity;
    if (paper &&
        (name == "dot" || name == "laplacian" || name == "umbral" || name == "penumbral")) {
      fast.push_back(v);
    }
  }
  return fast;
}
INSTANTIATE_TEST_SUITE_P(Similarities, Fast, testing::ValuesIn(fast_variants()),
                         conelab::tests::variant_name);

TEST(FastWidth, LeavesOtherCallsToThePortablePath) {
  Problem<float> p;
  p.groups = 1;
  p.query.count = p.key.count = 5;
  p.base_size = 64;
  p.width = 64;
  p.storage = Storage::bf16;
  EXPECT_EQ(fast_width(0, p), 64);
  p.width = 65;
  EXPECT_EQ(fast_width(0, p), 128);
  p.width = 129;
  EXPECT_EQ(fast_width(0, p), 0);
  p.width = 64;
  p.storage = Storage::f32;
  EXPECT_EQ(fast_width(0, p), 0);
  p.storage = Storage::f16;
  p.groups = 0;  // No block could be launched.
  EXPECT_EQ(fast_width(0, p), 0);
  p.groups = 1;
  p.sigmoid = true;
  EXPECT_EQ(fast_width(0, p), 0);
}

}  // namespace
}  // namespace conelab::gpu::tests
