// The fast path's gradients without a GPU: the kernels' arithmetic, run for all threads of a
// warpgroup around a matrix unit written from the documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gpu/hopper/fast.h"
#include "gpu/hopper/gradient_block.h"
#include "gpu/hopper/numbers.h"
#include "gpu/tile/visit_similarity.h"
#include "tests/core/tiles/cases.h"
#include "tests/gpu/emulate.h"
#include "tests/gpu/emulated_gradient.h"
#include "tests/gpu/fast_cases.h"
#include "tests/gpu/matrix_unit.h"

namespace conelab::gpu::tests {
namespace {

using namespace hopper;

/// The backward kernel of one owner, likewise.
template <class S, class Type, int width, Owner owner>
void emulate_owner(const FastGradient& g, GradientSums<float>& sums) {
  using Block = GradientBlock<S, Type, width, owner>;
  using Group = EmulatedGradientGroup<Block>;
  const GradientResult<float> result = sums.view([](auto& array) { return array.data(); });
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

class FastGradients : public testing::TestWithParam<Variant> {};

template <class Type>
void expect_fast_gradient(const Call& call, AttentionInput<float> input, double tolerance) {
  for (float& x : input.output_grad.owned().data)
    x = Type::widen(static_cast<std::uint16_t>(Type::pack(x, 0)));
  const Emulation<float> portable = emulate(call, input, Type::storage);
  const auto pointer = [](auto& array) { return array.empty() ? nullptr : array.data(); };
  const Problem<float> p = portable.operands.view(pointer);
  const Plan& plan = *portable.plan;
  const auto index = static_cast<int>(plan.similarity - similarity_table().data());
  const UpstreamArrays<float> upstream =
      make_upstream(plan, input, portable.operands, portable.forward);
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
    if constexpr (!is_fast<S>) {
      FAIL();
    } else if (width == 64) {
      emulate_owner<S, Type, 64, Owner::query>(g, sums);
      emulate_owner<S, Type, 64, Owner::key>(g, sums);
    } else {
      emulate_owner<S, Type, 128, Owner::query>(g, sums);
      emulate_owner<S, Type, 128, Owner::key>(g, sums);
    }
  });
  const Backward<float> found =
      finish_backward(plan, input, portable.operands, portable.forward, sums);
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

TEST_P(FastGradients, AgreeWithThePortablePath) {
  // Tails on both sides, tiles in parts, more tiles than stages, tiles that one consumer skips.
  const std::vector<FastSize> sizes{{70, 130, 33, 64, "full"},
                                    {20, 70, 80, 17, "causal"},
                                    {330, 65, 24, 8, "causal"},
                                    {65, 330, 16, 16, "window"}};
  for_fast_sizes(GetParam(), sizes, 20, [](const Call& call, const AttentionInput<float>& input) {
    expect_fast_gradient<Bf16>(call, input, 1e-2);
    expect_fast_gradient<F16>(call, input, 2e-3);
  });
}

INSTANTIATE_TEST_SUITE_P(Similarities, FastGradients, testing::ValuesIn(fast_variants()),
                         conelab::tests::variant_name);

}  // namespace
}  // namespace conelab::gpu::tests
