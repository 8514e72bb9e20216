// Attention over ranks gives the same bits for any number of them, and what one call of the engine
// gives but for rounding.
#include "core/ring/ring_attention.h"

#include <gtest/gtest.h>

#include <mutex>

#include "core/base/error.h"
#include "core/ring/own_rows.h"
#include "tests/core/ring/thread_ranks.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

template <class T>
struct Whole {
  Forward<T> forward;
  Backward<T> backward;
  std::int64_t sent = 0, received = 0;
};

template <class T>
void put(const Tensor4<T>& part, Rows rows, Shape4 whole, std::int64_t tokens, Tensor4<T>& to) {
  whole.head = part.shape.head, whole.token = tokens, whole.feature = part.shape.feature;
  if (to.empty()) to = Tensor4<T>(whole);
  for (std::int64_t b = 0; b < whole.batch; ++b) {
    for (std::int64_t h = 0; h < whole.head; ++h) {
      for (std::int64_t i = 0; i < rows.count(); ++i) {
        std::copy_n(part.row(b, h, i), whole.feature, to.row(b, h, rows.begin + i));
      }
    }
  }
}

template <class T>
Whole<T> on_ranks(const Plan& plan, const AttentionInput<T>& input, int size) {
  Whole<T> whole;
  std::mutex mutex;
  run_ranks(size, [&](Ranks& ranks) {
    const AttentionInput<T> own = rows_of_rank(input, ranks.rank(), size);
    RingAttention<T> ring(plan, own, ranks);
    ring.forward(one_thread());
    ring.backward(one_thread());
    const std::lock_guard lock(mutex);
    whole.sent += ranks.sent_bytes(), whole.received += ranks.received_bytes();
    const Extents& e = plan.extents;
    for (const BlockResult<T>& part : ring.results()) {
      const Rows q = ring.blocks().queries(part.block), k = ring.blocks().keys(part.block);
      put(part.forward.output, q, plan.output, e.query, whole.forward.output);
      put(part.forward.lse, q, plan.output, e.query, whole.forward.lse);
      put(part.backward.query, q, plan.output, e.query, whole.backward.query);
      put(part.backward.key, k, plan.output, e.key, whole.backward.key);
      put(part.backward.value, k, plan.output, e.key, whole.backward.value);
    }
    if (ranks.rank() == 0) {
      whole.backward.parameters = ring.parameters().parameters;
      whole.backward.tensors = ring.parameters().tensors;
    }
  });
  return whole;
}

template <class T>
void expect_same_bits(const Whole<T>& found, const Whole<T>& expected, int size) {
  EXPECT_EQ(found.forward.output.data, expected.forward.output.data) << size << " ranks";
  EXPECT_EQ(found.forward.lse.data, expected.forward.lse.data) << size << " ranks";
  EXPECT_EQ(found.backward.query.data, expected.backward.query.data) << size << " ranks";
  EXPECT_EQ(found.backward.key.data, expected.backward.key.data) << size << " ranks";
  EXPECT_EQ(found.backward.value.data, expected.backward.value.data) << size << " ranks";
  EXPECT_EQ(found.backward.parameters, expected.backward.parameters) << size << " ranks";
  EXPECT_EQ(found.backward.tensors, expected.backward.tensors) << size << " ranks";
}

template <class T>
void expect_near(const Whole<T>& found, const Forward<T>& forward, const Backward<T>& backward,
                 double tolerance) {
  EXPECT_LE(difference(found.forward.output, forward.output), tolerance) << "output";
  EXPECT_LE(difference(found.forward.lse, forward.lse), tolerance) << "lse";
  EXPECT_LE(difference(found.backward.query, backward.query), tolerance) << "dq";
  EXPECT_LE(difference(found.backward.key, backward.key), tolerance) << "dk";
  EXPECT_LE(difference(found.backward.value, backward.value), tolerance) << "dv";
  ASSERT_EQ(found.backward.parameters.size(), backward.parameters.size());
  for (const auto& [name, list] : backward.parameters) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      EXPECT_NEAR(found.backward.parameters.at(name)[i], list[i],
                  20 * tolerance * std::max(1.0, std::abs(list[i])))
          << name;
    }
  }
  ASSERT_EQ(found.backward.tensors.size(), backward.tensors.size());
  for (const auto& [name, tensor] : backward.tensors) {
    const auto& own = found.backward.tensors.at(name);
    EXPECT_EQ(own.extents, tensor.extents);
    for (std::size_t i = 0; i < tensor.data.size(); ++i) {
      EXPECT_NEAR(own.data[i], tensor.data[i],
                  20 * tolerance * std::max(1.0, std::abs(tensor.data[i])))
          << name;
    }
  }
}

template <class T>
void check(const Call& call, const AttentionInput<double>& wide, double tolerance) {
  const AttentionInput<T> input = convert<T>(wide);
  const auto plan = resolve(call, check_extents(input));
  const Forward<T> saved = forward(*plan, input, one_thread());
  const Backward<T> gradients = backward(*plan, input, saved, one_thread());
  const Whole<T> one = on_ranks(*plan, input, 1);
  EXPECT_EQ(one.sent, 0);
  expect_near(one, saved, gradients, tolerance);
  for (const int size : {2, 3, 4, 7, 12}) {
    const Whole<T> more = on_ranks(*plan, input, size);
    expect_same_bits(more, one, size);
    EXPECT_EQ(more.sent, more.received);
  }
}

/// Every similarity and position under masks that ranks share, one mask after the other.
std::vector<Variant> shared_calls() {
  const std::vector<std::vector<std::string>> masks = {
      {"full"}, {"causal"}, {"window"}, {"segment"}, {"padding"}, {"causal", "window", "padding"}};
  std::vector<Variant> list;
  for (const Variant& variant : variants()) {
    Variant one = variant;
    one.call.masks = masks[list.size() % masks.size()];
    give_mask_parameters(one.call);
    list.push_back(one);
  }
  return list;
}

class RingOfVariants : public testing::TestWithParam<Variant> {};
INSTANTIATE_TEST_SUITE_P(All, RingOfVariants, testing::ValuesIn(shared_calls()), variant_name);

TEST_P(RingOfVariants, GivesTheSameBitsForAnyRanks) {
  const Extents extents = with_key_heads({1, 4, 37, 60, 6, 3}, GetParam().name.size());
  const AttentionInput<double> input = random_input(GetParam().call, extents, 5);
  const auto plan = resolve(GetParam().call, check_extents(input));
  if (!plan->token_maps.empty() && plan->without_stopped_pairs()) {
    EXPECT_THROW(check_ring(*plan), Error);
    return;
  }
  check<double>(GetParam().call, input, 1e-10);
}

/// Returns whether ranks share the call; the refusal is one line of misuse.
bool is_shared(const Plan& plan) {
  return fixtures::misuse_of([&] { check_ring(plan); }).empty();
}

TEST(RingAttention, TakesEveryPartThatHasNoNumberForEachPair) {
  int shared = 0;
  std::size_t turn = 0;
  for (const Variant& variant : {variants().front(), variants().back()}) {
    for (const Parts& parts : pairwise_parts()) {
      const Call chosen = chosen_parts(variant, parts);
      if (may_be_refused(chosen, true)) continue;
      const Extents extents = with_key_heads({2, 2, 21, 21, 6, 6}, turn++);
      const Call call = make_call(variant, parts, extents);
      SCOPED_TRACE(call_text(call));
      const AttentionInput<double> input = random_input(call, extents, turn);
      const auto plan = resolve(call, check_extents(input));
      if (!is_shared(*plan)) continue;
      ++shared;
      check<double>(call, input, 1e-9);
    }
  }
  EXPECT_GE(shared, 10);
}

TEST(RingAttention, RefusesWhatNeedsAllPairs) {
  for (const char* mask : {"explicit", "graph", "strided", "fixed"}) {
    Call call;
    call.masks = {mask};
    give_mask_parameters(call);
    AttentionInput<double> input = random_input(call, {1, 1, 9, 9, 4, 4}, 3);
    EXPECT_FALSE(is_shared(*draw_tensors(with_random_tensors(call), input))) << mask;
  }
}

TEST(RingAttention, GivesTheSameBitsInFloatAndHalves) {
  const Call call = call_from_text("penumbral:masks=causal");
  const AttentionInput<double> input = random_input(call, {2, 4, 83, 83, 8, 8, {}, {}, 2, 2}, 7);
  check<float>(call, input, 2e-5);
  check<Float16>(call, input, 4e-3);
  check<Bfloat16>(call, input, 4e-2);
}

TEST(RingAttention, TakesProjectionsAndRotations) {
  const Call call = call_from_text("dot:position=rope:masks=causal");
  const AttentionInput<double> input = projected_input(call, {2, 3, 29, 35, 8, 8}, 11, false);
  check<double>(call, input, 1e-10);
}

TEST(RingAttention, TakesMoreRanksThanTokens) {
  for (const std::int64_t n : {1, 2, 3, 5, 17}) {
    const Call call = call_from_text("penumbral:masks=causal");
    SCOPED_TRACE(n);
    check<double>(call, random_input(call, {1, 1, n, n, 4, 3}, 1), 1e-10);
  }
}

TEST(Blocks, HaveBordersThatDependOnTheLengthsAlone) {
  for (const std::int64_t n : {1, 7, 16, 100, 16384, 1000003}) {
    for (const int size : {1, 2, 7, 64}) {
      const Blocks blocks(n, n, size);
      EXPECT_EQ(blocks.count(), Blocks(n, n, 1).count());
      std::vector<int> owners(static_cast<std::size_t>(blocks.count()), 0);
      std::int64_t tokens = 0;
      for (int rank = 0; rank < size; ++rank) {
        for (const std::int64_t block : blocks.of_rank(rank)) {
          ++owners[static_cast<std::size_t>(block)];
          EXPECT_EQ(blocks.owner_of_block(block), rank);
        }
        const auto runs = blocks.tokens_of_rank(rank, n);
        EXPECT_LE(runs.size(), 2U);
        for (const Rows& run : runs) tokens += run.count();
      }
      EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
      EXPECT_EQ(tokens, n);
    }
  }
}

/// Every slab of queries sees equally many pairs of blocks of every other slab.
TEST(Blocks, KeepRanksEquallyBusyUnderACausalMask) {
  const Blocks blocks(16384, 16384, 4);
  for (std::int64_t i = 0; i < blocks.slabs(); ++i) {
    for (std::int64_t j = 0; j < blocks.slabs(); ++j) {
      int seen = 0;
      for (const std::int64_t query : blocks.of_slab(i)) {
        for (const std::int64_t key : blocks.of_slab(j)) seen += key <= query ? 1 : 0;
      }
      EXPECT_EQ(seen, i == j ? 3 : 2);
    }
  }
}

/// Under a window ranks get the neighbours' keys alone, and each rank has its share of the rows.
TEST(RingAttention, SendsOnlyWhatTheMaskLetsOthersSee) {
  Call full, window;
  full.similarity = window.similarity = "dot";
  window.masks = {"window"};
  window.parameters["window"] = 4;
  const AttentionInput<double> input = random_input(full, {1, 1, 160, 160, 4, 4}, 2);
  const auto sent = [&](const Call& call) {
    return on_ranks(*resolve(call, check_extents(input)), input, 4).sent;
  };
  EXPECT_LT(2 * sent(window), sent(full));
}

}  // namespace
}  // namespace conelab::tests
