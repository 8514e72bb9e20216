// The passes over one input make some things once, read others without a copy, and keep nothing:
// these tests count memory.
#include <gtest/gtest.h>

#include "tests/core/tiles/cases.h"
#include "tests/helpers/memory.h"

namespace conelab::tests {
namespace {

TEST(SharedMemory, AGraphIsListedOnceForAllPasses) {
  for (const char* text : {"dot:masks=graph", "multiplicative:masks=graph",
                           "penumbral:masks=graph+causal", "dot:masks=graph:axis=query"}) {
    SCOPED_TRACE(text);
    const Call call = with_random_tensors(call_from_text(text));
    AttentionInput<double> input = random_input(call, {2, 2, 9, 9, 4, 3}, 3);
    input.indices["edge"] = {{3, 2}, {0, 4, 2, 7, 8, 1}};
    const auto all = [&](const AttentionInput<double>& own) {
      const auto plan = resolve(call, check_extents(own));
      const Forward<double> saved = forward(*plan, own);
      std::vector<double> weights(81);
      PairMap<double>(*plan, own)
          .tile(Map2d::weights, &saved, {0, 0, 0, 9, 0, 9}, weights.data(), {});
      (void)backward(*plan, own, saved);
      return weights;
    };
    const std::vector<double> first = all(input);
    const AttentionInput<double> copy = input;
    EXPECT_EQ(all(copy), first);
    EXPECT_EQ(input.graph->made(), 1);
    input.indices["edge"].data = {0, 5, 2, 7, 8, 1};
    EXPECT_NE(all(input), first);
    EXPECT_EQ(input.graph->made(), 2);
  }
}

TEST(SharedMemory, TokenMapsReadTheirMatricesInPlace) {
  const Call call = with_random_tensors(call_from_text("multiplicative"));
  const auto input = convert<float>(random_input(call, {1, 2, 5, 6, 4, 3}, 3));
  const auto plan = resolve(call, check_extents(input));
  const Array<float>& matrix = input.tensors.at("W");
  for (std::int64_t head = 0; head < 2; ++head) {
    const auto own = plan->tensors_of(plan->token_maps.front().parameters, head, input.tensors);
    ASSERT_EQ(own.size(), 1U);
    EXPECT_EQ(own.front().data(), matrix.of_head(head, 2));
    EXPECT_EQ(own.front().size(), 16U);
  }
  EXPECT_FALSE(map_tokens(*plan, input).tensors.contains("W"));
}

/// The passes are so long that two threads share them.
TEST(SharedMemory, CallsKeepNone) {
  const Call call = call_from_text("dot");
  const auto input = convert<float>(random_input(call, {1, 2, 72, 72, 64, 64}, 3));
  const auto plan = resolve(call, check_extents(input));
  const Execution run = with_threads(2);
  fixtures::expect_calls_keep_no_memory(20'000, [&](int) {
    const Forward<float> saved = forward(*plan, input, run);
    (void)backward(*plan, input, saved, run);
  });
}

}  // namespace
}  // namespace conelab::tests
