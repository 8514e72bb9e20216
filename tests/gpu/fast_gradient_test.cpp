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
template <class S, class Type, int width, Owner owner, Law law>
void emulate_owner(const FastGradient& g, GradientSums<float>& sums, int order) {
  using Block = GradientBlock<S, Type, width, owner, law>;
  using Group = EmulatedGradientGroup<Block>;
  const GradientResult<float> result = sums.view([](auto& array) { return array.data(); });
  for (int block = 0; block < Block::blocks(g.call); ++block) {
    const auto seed = static_cast<std::uint64_t>(block + order);
    ASSERT_NO_THROW((run_block<Block, Group>(block, g, result, seed)));
  }
}

class FastGradients : public testing::TestWithParam<Variant> {};

/// The gradients of a call, given the result of the portable forward pass. `order` is that of
/// threads and copies.
template <class Type>
Backward<float> run_fast_gradient(const Emulation<float>& portable,
                                  const AttentionInput<float>& input, int order) {
  Operands<float> operands = portable.operands;
  sum_by_offset(operands);
  const auto pointer = [](auto& array) { return array.empty() ? nullptr : array.data(); };
  const Problem<float> p = operands.view(pointer);
  const Plan& plan = *portable.plan;
  const auto index = static_cast<int>(plan.similarity - similarity_table().data());
  const UpstreamArrays<float> upstream = make_upstream(plan, input, operands, portable.forward);
  const int width = fast_width(index, p);
  auto packed = pack_gradient_operands(p, upstream.view(pointer), width, plan.similarity->values);
  const std::vector<float> bias = pack_bias(index, p);
  const int entries = offset_entries(p.query.count, p.key.count);
  std::vector<long long> offsets(packed.offset_scale.size() * static_cast<std::size_t>(entries));
  const FastGradient g{p,
                       packed.query.data(),
                       packed.key.data(),
                       packed.value.data(),
                       packed.output_grad.data(),
                       packed.query_facts.data(),
                       packed.key_facts.data(),
                       bias.data(),
                       pointer(offsets),
                       packed.offset_scale.data()};
  GradientSums<float> sums(p, plan.similarity->constants);
  for (auto* array : {&sums.query_base, &sums.query_potential, &sums.key_base, &sums.key_potential,
                      &sums.value}) {
    std::fill(array->begin(), array->end(), std::numeric_limits<float>::quiet_NaN());
  }
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (!is_fast<S>) {
      FAIL();
    } else {
      const auto run = [&]<Law law>() {
        if (width == 64) {
          emulate_owner<S, Type, 64, Owner::query, law>(g, sums, order);
          emulate_owner<S, Type, 64, Owner::key, law>(g, sums, order);
        } else {
          emulate_owner<S, Type, 128, Owner::query, law>(g, sums, order);
          emulate_owner<S, Type, 128, Owner::key, law>(g, sums, order);
        }
      };
      const Law law = fast_law(p);
      if (law == Law::softmax) run.template operator()<Law::softmax>();
      if (law == Law::biased) run.template operator()<Law::biased>();
      if (law == Law::sigmoid) run.template operator()<Law::sigmoid>();
    }
  });
  if (!offsets.empty()) sums.by_offset = sums_by_offset(p, offsets, packed.offset_scale);
  return finish_backward(plan, input, operands, portable.forward, sums);
}

template <class Type>
void expect_fast_gradient(const Call& call, AttentionInput<float> input, double tolerance) {
  for (float& x : input.output_grad.owned().data)
    x = Type::widen(static_cast<std::uint16_t>(Type::pack(x, 0)));
  const Emulation<float> saved = emulate(call, input, Type::storage, false);
  const Backward<float> found = run_fast_gradient<Type>(saved, input, 1);
  // The portable path reads the same rounded operands, in double.
  const Emulation<double> portable = emulate(call, convert<double>(input), Type::storage);
  EXPECT_LE(relative_error(found.query.data, portable.backward.query.data), tolerance) << "query";
  EXPECT_LE(relative_error(found.key.data, portable.backward.key.data), tolerance) << "key";
  EXPECT_LE(relative_error(found.value.data, portable.backward.value.data), tolerance) << "value";
  // A parameter's slope is a sum over all tokens, whose terms may cancel: they set the scale.
  double scale = 0;
  for (const double x : portable.backward.query.data) scale += x * x;
  const auto expect_numbers = [&](const std::string& key, const auto& mine, const auto& numbers) {
    ASSERT_EQ(mine.size(), numbers.size()) << key;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double bound = tolerance * 5 * std::max(std::abs(numbers[i]), std::sqrt(scale));
      EXPECT_NEAR(mine[i], numbers[i], bound) << key;
    }
  };
  for (const auto& [key, values] : portable.backward.parameters) {
    expect_numbers(key, found.parameters.at(key), values);
  }
  ASSERT_EQ(found.tensors.size(), portable.backward.tensors.size());
  for (const auto& [key, tensor] : portable.backward.tensors) {
    expect_numbers(key, found.tensors.at(key).data, tensor.data);
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

TEST_P(FastGradients, AgreeWithBiasesAndSigmoids) {
  const std::vector<FastSize> sizes{
      {65, 130, 64, 64, "causal"}, {200, 330, 80, 40, "full"}, {330, 65, 24, 8, "window"}};
  for (const FastPart& part : biased_parts) {
    const auto check = [](const Call& call, const AttentionInput<float>& input) {
      expect_fast_gradient<Bf16>(call, input, 1e-2);
      expect_fast_gradient<F16>(call, input, 2e-3);
    };
    for_fast_sizes(GetParam(), sizes, 20, check, part);
  }
}

/// Returns the heights of tokens, or their other numbers.
template <class N>
std::vector<N> numbers_of(const Tensor4<N>& tokens, bool heights) {
  const auto size = static_cast<std::size_t>(tokens.shape.feature);
  std::vector<N> some;
  for (std::size_t i = 0; i < tokens.data.size(); ++i) {
    if ((i % size == size - 1) == heights) some.push_back(tokens.data[i]);
  }
  return some;
}

TEST(FastGradientsOfCones, HaveTheErrorsOfBf16) {
  for_cones([](const Call& call, const AttentionInput<float>& input) {
    const Emulation<float> saved = emulate(call, input, Storage::bf16, false);
    const Backward<float> found = run_fast_gradient<Bf16>(saved, input, 1);
    const Backward<double> exact = emulate(call, convert<double>(input), Storage::bf16).backward;
    const auto error = [](const auto& mine, const auto& right, bool heights) {
      return relative_error(numbers_of(mine, heights), numbers_of(right, heights));
    };
    EXPECT_LE(error(found.query, exact.query, false), 1.5 * 3.5e-3);
    EXPECT_LE(error(found.key, exact.key, false), 1.5 * 2.4e-3);
    EXPECT_LE(relative_error(found.value.data, exact.value.data), 1.5 * 2.4e-3);
    // Those of heights were measured here, in the emulation: for queries much of them cancels.
    EXPECT_LE(error(found.query, exact.query, true), 1.5 * 2.8e-2);
    EXPECT_LE(error(found.key, exact.key, true), 1.5 * 2.4e-3);
  });
}

TEST_P(FastGradients, OfABiasAreTheSameInAnyOrder) {
  const auto check = [](const Call& call, const AttentionInput<float>& input) {
    const Emulation<float> saved = emulate(call, input, Storage::bf16, false);
    const Backward<float> first = run_fast_gradient<Bf16>(saved, input, 1);
    const Backward<float> second = run_fast_gradient<Bf16>(saved, input, 100);
    EXPECT_EQ(first.query.data, second.query.data);
    EXPECT_EQ(first.parameters, second.parameters);
    EXPECT_EQ(first.tensors.at("t5_bias").data, second.tensors.at("t5_bias").data);
  };
  for_fast_sizes(GetParam(), {{200, 200, 16, 16, "full"}}, 7, check, {"t5", "softmax"});
}

TEST_P(FastGradients, OfABiasAreNotFiniteWhereATokenIsNot) {
  const auto check = [](const Call& call, AttentionInput<float> input) {
    input.query.owned().at(0, 0, 3, 1) = std::numeric_limits<float>::quiet_NaN();
    const Emulation<float> saved = emulate(call, input, Storage::bf16, false);
    const Backward<float> found = run_fast_gradient<Bf16>(saved, input, 1);
    EXPECT_TRUE(std::isnan(found.parameters.at("alibi_slope")[0]));
    EXPECT_TRUE(std::isnan(found.query.at(0, 0, 3, 0)));
    EXPECT_TRUE(std::isfinite(found.query.at(0, 0, 4, 0)));
  };
  for (const char* weights : {"softmax", "sigmoid"}) {
    for_fast_sizes(GetParam(), {{70, 70, 16, 16, "causal"}}, 8, check, {"alibi", weights});
  }
}

INSTANTIATE_TEST_SUITE_P(Similarities, FastGradients, testing::ValuesIn(fast_variants()),
                         conelab::tests::variant_name);

}  // namespace
}  // namespace conelab::gpu::tests
