#include "core/tree/head_tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/geometry/sampling.h"
#include "tests/helpers/errors.h"

namespace conelab::tree {
namespace {

AttentionInput<double> random_input(std::int64_t n, std::int64_t d) {
  geometry::test::Sampler sampler(9);
  AttentionInput<double> input;
  for (auto* t : {&input.query, &input.key, &input.value}) {
    *t = Tensor4<double>({1, 2, n, d});
    for (double& x : t->owned().data) x = sampler.uniform(-1, 1);
  }
  return input;
}

std::vector<HeadTree> trees_of(const Call& call, const AttentionInput<double>& input,
                               Tokens tokens = Tokens::key) {
  return head_trees(pair_call(call, input), tokens);
}

// The depth by the law of cones is the engine's logit at γ = 1 of the same tokens.
TEST(HeadTree, DepthsAreTheEnginesLogits) {
  for (const char* name : {"penumbral", "umbral"}) {
    AttentionInput<double> input = random_input(19, 5);
    const Call call = call_from_text(name);
    const std::vector<HeadTree> trees = trees_of(call, input);
    ASSERT_EQ(trees.size(), 2u);
    input.query = input.key;
    const auto plan = resolve(call, check_extents(input));
    const Tensor4<double> logits = attention_map(*plan, input, Map2d::logits);
    for (std::int64_t h = 0; h < 2; ++h) {
      const HeadTree& tree = trees[static_cast<std::size_t>(h)];
      for (std::int64_t i = 0; i < 19; ++i) {
        for (std::int64_t j = 0; j < 19; ++j) {
          EXPECT_NEAR(tree.depth[static_cast<std::size_t>(i * 19 + j)], logits.at(0, h, i, j),
                      1e-10)
              << name;
        }
      }
    }
  }
}

TEST(HeadTree, OfAPlainSimilarityHasADendrogramButNoOrder) {
  const AttentionInput<double> input = random_input(7, 4);
  Call call;
  call.similarity = "dot";
  call.bias = "alibi";  // plays no part in the tree
  const HeadTree tree = trees_of(call, input).front();
  EXPECT_FALSE(tree.order.has_value());
  EXPECT_TRUE(tree.common.empty());
  double dot = 0;
  for (int c = 0; c < 4; ++c) dot += input.key.at(0, 0, 2, c) * input.key.at(0, 0, 5, c);
  EXPECT_NEAR(tree.depth[2 * 7 + 5], dot / 2, 1e-12);
  EXPECT_EQ(tree.dendrogram.merges.size(), 6u);
  EXPECT_EQ(tree.segmentation->crossing.size(), 6u);
}

TEST(HeadTree, SegmentsTheWeightsOfTheCall) {
  const AttentionInput<double> input = random_input(9, 4);
  const Call call = call_from_text("penumbral:masks=causal");
  const auto plan = resolve(call, check_extents(input));
  const Tensor4<double> weights = attention_map(*plan, input, Map2d::weights);
  const HeadTree tree = trees_of(call, input)[1];
  double crossing = 0;
  for (std::int64_t i = 4; i < 9; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) crossing += weights.at(0, 1, i, j);
  }
  EXPECT_NEAR(tree.segmentation->crossing[3], crossing / 9, 1e-12);
  EXPECT_LT(tree.segmentation->uniform[3], 0.5);
}

// A NaN in the axis vanished in comparisons, one in the height was an error: both are unknown now.
TEST(HeadTree, InventsNothingForTokensThatAreNotFinite) {
  for (const char* name : {"umbral", "penumbral", "ganea", "dot", "laplacian"}) {
    for (const double wrong : {std::nan(""), HUGE_VAL}) {
      for (const std::int64_t feature : {1, 4}) {
        AttentionInput<double> input = random_input(6, 5);
        const Call call = call_from_text(name);
        const HeadTree clean = trees_of(call, input).front();
        input.key.owned().at(0, 0, 3, feature) = wrong;
        const HeadTree tree = trees_of(call, input).front();
        EXPECT_EQ(tree.undefined_count(), 1u) << name;
        EXPECT_TRUE(tree.undefined(3));
        for (std::size_t i = 0; i < 6; ++i) {
          EXPECT_TRUE(std::isnan(tree.depth[i * 6 + 3]) && std::isnan(tree.depth[3 * 6 + i]));
          for (std::size_t j = 0; j < 6; ++j) {
            if (i == 3 || j == 3) continue;
            EXPECT_EQ(tree.depth[i * 6 + j], clean.depth[i * 6 + j]) << name;
          }
          if (!tree.order) continue;
          EXPECT_FALSE(tree.order->is_ancestor(i, 3) || tree.order->is_ancestor(3, i));
          EXPECT_FALSE(tree.common[i * 6 + 3]);
        }
        const std::vector<Merge>& merges = tree.dendrogram.merges;
        EXPECT_TRUE(merges[4].left == 3 || merges[4].right == 3) << name;
        EXPECT_TRUE(std::isnan(merges[4].depth));
        EXPECT_FALSE(std::isnan(merges[3].depth));
        EXPECT_TRUE(std::isinf(wrong) || tree.segmentation->strongest == -1) << name;
        EXPECT_GE(trees_of(call, input)[1].segmentation->strongest, 0);
      }
    }
  }
}

/// A view of the first `count` tokens of each tensor.
AttentionInput<double> first_tokens(const AttentionInput<double>& input, std::int64_t count) {
  AttentionInput<double> out;
  for (const auto tensor : {&AttentionInput<double>::query, &AttentionInput<double>::key,
                            &AttentionInput<double>::value}) {
    const StridedTensor4<double>& from = input.*tensor;
    const Shape4& s = from.shape;
    out.*tensor = {from.row(0, 0, 0), {s.batch, s.head, count, s.feature}, from.strides()};
  }
  return out;
}

TEST(HeadTree, OfPaddedTokensIsThatOfTheTokensWithoutPadding) {
  constexpr std::size_t n = 9, length = 6;
  for (const char* name : {"penumbral", "ganea", "dot"}) {
    const AttentionInput<double> input = random_input(n, 4);
    const Call call = call_from_text(name);
    Call masked = call;
    masked.masks = {"padding"};
    AttentionInput<double> padded = input;
    padded.key_lengths = {length};
    for (const Tokens tokens : {Tokens::key, Tokens::query}) {
      const auto trees = trees_of(masked, padded, tokens);
      const auto expected = trees_of(call, first_tokens(input, length), tokens);
      for (std::size_t h = 0; h < 2; ++h) {
        EXPECT_EQ(trees[h].padding, n - length);
        EXPECT_EQ(trees[h].undefined_count(), n - length);
        for (std::size_t i = 0; i < length; ++i) {
          for (std::size_t j = 0; j < length; ++j) {
            EXPECT_NEAR(trees[h].depth[i * n + j], expected[h].depth[i * length + j], 1e-12);
          }
        }
        for (std::size_t m = 0; m + 1 < length; ++m) {
          EXPECT_NEAR(trees[h].dendrogram.merges[m].depth, expected[h].dendrogram.merges[m].depth,
                      1e-12);
          EXPECT_NEAR(trees[h].segmentation->relative[m], expected[h].segmentation->relative[m],
                      1e-12);
        }
        EXPECT_EQ(trees[h].segmentation->strongest, expected[h].segmentation->strongest) << name;
      }
    }
  }
}

TEST(HeadTree, AsksNobodyWherePaddingLies) {
  AttentionInput<double> input = random_input(4, 3);
  for (double& x : input.key.owned().data) x = std::abs(x) * 0.5 + 0.01;
  input.query = input.key;
  for (std::int64_t h = 0; h < 2; ++h) {
    input.key.owned().at(0, h, 3, 2) = 7;  // outside the cones' domain
    input.query.owned().at(0, h, 3, 2) = 7;
  }
  input.key_lengths = {3};
  const Call call = call_from_text("penumbral:map=none:masks=padding");
  const auto trees = trees_of(call, input);
  EXPECT_EQ(trees[0].undefined_count(), 1u);
  EXPECT_GE(trees[0].segmentation->strongest, 0);
}

TEST(HeadTree, NamesTheTokenOutsideTheDomainAndExitsWithOne) {
  AttentionInput<double> input = random_input(3, 3);
  for (double& x : input.query.owned().data) x = std::abs(x) * 0.5 + 0.01;
  input.key = input.query;
  input.key.owned().at(0, 0, 1, 2) = 2;
  const Call call = call_from_text("penumbral:map=none");
  const PairCall<double> pairs = pair_call(call, input);
  EXPECT_TRUE(fixtures::failure_of([&] {
                return head_elements(pairs, Tokens::key, 0, 0);
              }).starts_with("1: token 1 of k: outside the domain"));
  EXPECT_EQ(head_elements(pairs, Tokens::query, 0, 0)->elements.size(), 3u);
}

/// Maps of tokens come first: the trees are those of the call on the mapped tokens.
TEST(HeadTrees, OfMappedTokens) {
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, 6, 4});
  for (std::size_t i = 0; i < input.query.owned().data.size(); ++i) {
    input.query.owned().data[i] = std::sin(static_cast<double>(i));
  }
  input.key = input.value = input.query;
  for (const char* text : {"umbral:position=rope", "multiplicative:W=random"}) {
    const PairCall<double> pairs = pair_call(call_from_text(text), input);
    const auto trees = head_trees(pairs);
    ASSERT_EQ(trees.size(), 1U) << text;
    EXPECT_EQ(trees.front().size, 6U) << text;
    EXPECT_TRUE(trees.front().segmentation.has_value()) << text;
  }
}

}  // namespace
}  // namespace conelab::tree
