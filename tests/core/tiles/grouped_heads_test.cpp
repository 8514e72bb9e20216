// Heads of q that share heads of k and v: the numbers are those of expanded heads, and gradients of
// k and v are sums over the heads that share them. Other tests compare with the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/call/call.h"
#include "tests/core/tiles/cases.h"
#include "tests/helpers/errors.h"

namespace conelab::tests {
namespace {

using fixtures::message_of;

const Extents shared{2, 6, 70, 130, 16, 8};

/// Returns keys or values with one head for each head of q.
template <class T>
Tensor4<T> expanded(const StridedTensor4<T>& tokens, std::int64_t heads) {
  Shape4 shape = tokens.shape;
  shape.head = heads;
  Tensor4<T> all(shape);
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      copy_tokens(tokens.tokens(b, h / (heads / tokens.shape.head)), all.row(b, h, 0));
    }
  }
  return all;
}

/// Returns the sums over the heads that share one of `heads` heads, in their order.
template <class T>
Tensor4<T> summed(const Tensor4<T>& all, std::int64_t heads) {
  Shape4 shape = all.shape;
  shape.head = heads;
  Tensor4<T> sum(shape);
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t h = 0; h < all.shape.head; ++h) {
      T* to = sum.row(b, h / (all.shape.head / heads), 0);
      const T* from = all.row(b, h, 0);
      for (std::int64_t i = 0; i < shape.token * shape.feature; ++i) to[i] += from[i];
    }
  }
  return sum;
}

template <class T>
AttentionInput<T> with_expanded_heads(AttentionInput<T> input) {
  const std::int64_t heads = input.query.shape.head;
  input.key = expanded(input.key, heads);
  input.value = expanded(input.value, heads);
  return input;
}

template <class T>
void expect_equal_to_expanded(const Call& call, const AttentionInput<T>& input,
                              const Execution& execution) {
  const AttentionInput<T> all = with_expanded_heads(input);
  const Answer<T> found = run(call, input, execution), expected = run(call, all, execution);
  EXPECT_EQ(found.forward.output.data, expected.forward.output.data);
  EXPECT_EQ(found.forward.lse.data, expected.forward.lse.data);
  EXPECT_EQ(found.weights.data, expected.weights.data);
  EXPECT_EQ(found.logits.data, expected.logits.data);
  const auto plan = resolve(call, check_extents(input)), of_all = resolve(call, check_extents(all));
  const Backward<T> mine = backward(*plan, input, found.forward, execution);
  const Backward<T> theirs = backward(*of_all, all, expected.forward, execution);
  EXPECT_EQ(mine.query.data, theirs.query.data);
  EXPECT_EQ(mine.key.data, summed(theirs.key, input.key.shape.head).data);
  EXPECT_EQ(mine.value.data, summed(theirs.value, input.key.shape.head).data);
  EXPECT_EQ(mine.parameters, theirs.parameters);
}

class GroupedHeads : public testing::TestWithParam<Variant> {};

TEST_P(GroupedHeads, HaveTheBitsOfExpandedHeads) {
  for (const std::size_t turn : {1, 2, 3}) {
    const Extents extents = with_key_heads(shared, turn);
    const Parts parts{"alibi", {turn == 1 ? "explicit" : "causal"}, "softmax", "mean", turn == 2};
    const Call call = make_call(GetParam(), parts, extents);
    if (!resolve(call, extents)->token_maps.empty()) continue;  // Sums of maps are rounded.
    SCOPED_TRACE(fmt::format("{} heads on {}", extents.head, extents.key_head));
    const AttentionInput<double> input = random_input(call, extents, 5 + turn);
    expect_equal_to_expanded(call, input, one_thread());
    expect_equal_to_expanded(call, convert<float>(input), {});
  }
}

INSTANTIATE_TEST_SUITE_P(Similarity, GroupedHeads, testing::ValuesIn(variants()), variant_name);

TEST(GroupedHeadsOfParts, HaveTheBitsOfExpandedHeads) {
  const Extents extents = with_key_heads(shared, 2);
  for (const char* text :
       {"dot:masks=strided", "umbral:masks=graph", "laplacian:weights=sigmoid:masks=padding",
        "dot:axis=query", "penumbral:gamma=1,2,3,4,5,6", "dot:masks=segment:segment=20",
        "hyperbolic:aggregate=einstein:masks=window:window=9"}) {
    SCOPED_TRACE(text);
    const Call call = with_random_tensors(call_from_text(text));
    const AttentionInput<double> input = random_input(call, extents, 17);
    expect_equal_to_expanded(call, input, one_thread());
    expect_equal_to_expanded(call, convert<float>(input), {});
  }
}

TEST(GroupedHeads, DoNotDependOnTheNumberOfThreads) {
  // The 8 groups of the second are computed one by one by one thread, all together by four.
  for (const Extents& shape : {Extents{2, 8, 200, 700, 16, 8}, Extents{8, 4, 70, 130, 16, 8}}) {
    const Extents extents = with_key_heads(shape, 2);
    for (const char* text : {"penumbral:masks=causal", "dot:masks=strided", "dot:axis=query"}) {
      SCOPED_TRACE(fmt::format("{}, {} batches", text, extents.batch));
      const Call call = call_from_text(text);
      const AttentionInput<Bfloat16> input = convert<Bfloat16>(random_input(call, extents, 19, 1));
      const auto plan = resolve(call, check_extents(input));
      const Execution four = with_threads(4);
      const auto saved = forward(*plan, input, one_thread());
      const auto of_four = forward(*plan, input, four);
      EXPECT_EQ(convert<float>(saved.output).data, convert<float>(of_four.output).data);
      EXPECT_EQ(saved.lse.data, of_four.lse.data);
      const auto alone = backward(*plan, input, saved, one_thread());
      const auto together = backward(*plan, input, saved, four);
      EXPECT_EQ(convert<float>(alone.key).data, convert<float>(together.key).data);
      EXPECT_EQ(convert<float>(alone.value).data, convert<float>(together.value).data);
    }
  }
}

TEST(GroupedHeads, KeepTheirNumberThroughMapsThatAreTheSameForAllHeads) {
  const Extents extents = with_key_heads({1, 6, 4, 5, 8, 8}, 2);
  const auto inner_of = [&](const char* text, bool own_projection) {
    Extents e = extents;
    if (own_projection) e.tensors["P_key"] = {6, 8, 8};
    return resolve(with_random_tensors(call_from_text(text)), e)->inner->extents;
  };
  EXPECT_EQ(inner_of("dot:position=rope", false).key_heads(), 2);
  EXPECT_EQ(inner_of("dot:position=rope", true).key_heads(), 6);
  EXPECT_EQ(inner_of("dot:position=rope", true).value_heads(), 2);
  EXPECT_EQ(inner_of("hyperbolic:aggregate=einstein:value_map=lift", false).value_heads(), 2);
}

TEST(GroupedHeads, NameTheTokenInItsOwnHead) {
  const Call call = call_from_text("umbral:map=none");
  const Extents extents = with_key_heads({1, 6, 3, 3, 4, 2}, 2);
  AttentionInput<double> input = random_input(call, extents, 3);
  input.key.owned().at(0, 1, 2, 3) = -1;
  EXPECT_THAT(message_of([&] { return forward(*resolve(call, extents), input, one_thread()); }),
              testing::HasSubstr("token 2 of k (batch 0, head 1)"));
}

TEST(GroupedHeads, ThatDoNotDivideAreRefused) {
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 8, 3, 4});
  const auto says = [&](std::int64_t keys, std::int64_t values) -> std::string {
    input.key = Tensor4<double>({1, keys, 3, 4});
    input.value = Tensor4<double>({1, values, 3, 4});
    return message_of([&] { return check_extents(input); });
  };
  EXPECT_EQ(says(2, 2), "");
  EXPECT_THAT(says(3, 3), testing::HasSubstr("expected 8 or a divisor of it, found 3"));
  EXPECT_THAT(says(16, 16), testing::HasSubstr("found 16"));
  EXPECT_THAT(says(2, 4), testing::HasSubstr("k has 2, v has 4"));
}

/// Masks of fewer axes are those of all of them with the same pairs.
TEST(Broadcasting, OfAMaskIsThatOfTheWholeMask) {
  const Extents extents{2, 3, 6, 7, 4, 2};
  const Call call = call_from_text("dot:masks=explicit");
  for (const Shape4& sizes :
       {Shape4{1, 1, 6, 7}, Shape4{2, 1, 1, 7}, Shape4{1, 3, 6, 7}, Shape4{2, 1, 6, 7},
        Shape4{2, 3, 6, 7}, Shape4{1, 1, 1, 7}, Shape4{2, 3, 6, 1}}) {
    SCOPED_TRACE(to_string(sizes));
    AttentionInput<double> input = random_input(call, extents, 23);
    input.allowed.clear();
    Random random(29);
    for (std::int64_t i = 0; i < sizes.size(); ++i) {
      input.allowed.push_back(random.uniform(0, 1) < 0.6 ? 1 : 0);
    }
    input.allowed_sizes = sizes;
    AttentionInput<double> whole = input;
    whole.allowed_sizes = {2, 3, 6, 7};
    whole.allowed.clear();
    for (std::int64_t i = 0; i < whole.allowed_sizes.size(); ++i) {
      const std::int64_t at[] = {i / 126 % sizes.batch, i / 42 % 3 % sizes.head,
                                 i / 7 % 6 % sizes.token, i % 7 % sizes.feature};
      whole.allowed.push_back(input.allowed[static_cast<std::size_t>(
          ((at[0] * sizes.head + at[1]) * sizes.token + at[2]) * sizes.feature + at[3])]);
    }
    const Answer<double> found = run(call, input), expected = run(call, whole);
    EXPECT_EQ(found.forward.output.data, expected.forward.output.data);
    EXPECT_EQ(found.weights.data, expected.weights.data);
    const auto one = input_of_head(input, 1, 2);
    const auto plan = resolve(call, check_extents(one));
    EXPECT_EQ(forward(*plan, one, one_thread()).output.data,
              head_of(expected.forward.output, 1, 2).data);
  }
}

TEST(Broadcasting, OfOtherSizesIsRefused) {
  AttentionInput<double> input = random_input(call_from_text("dot"), {2, 3, 6, 7, 4, 2}, 31);
  input.allowed.assign(2 * 6 * 7, 1);
  input.allowed_sizes = {1, 2, 6, 7};
  EXPECT_THAT(message_of([&] { return check_extents(input); }),
              testing::HasSubstr("expected [2, 3, 6, 7] or 1 for any of them"));
}

TEST(RowsWithoutKeys, AreCountedForEachElement) {
  const Extents extents{2, 1, 4, 5, 3, 2};
  const Call call = call_from_text("dot:masks=padding+causal");
  AttentionInput<double> input = random_input(call, extents, 37);
  input.key_lengths = {0, 3};
  const Mask mask = resolve(call, extents)->mask(input);
  EXPECT_EQ(mask.queries_without_keys(0), 4);
  EXPECT_EQ(mask.queries_without_keys(1), 0);
  const Call strict = call_from_text("dot:masks=strided+directional:direction=forward");
  const Extents square{1, 1, 4, 4, 3, 2};
  const AttentionInput<double> tokens = random_input(strict, square, 41);
  EXPECT_EQ(resolve(strict, square)->mask(tokens).queries_without_keys(0), 1);
}

}  // namespace
}  // namespace conelab::tests
