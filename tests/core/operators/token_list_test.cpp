// The operators star and segtree beyond what Structured.* tests of every operator: several blocks
// of rows, the tokens that a row reads, and the graph of the segment tree.
#include "core/operators/token_list.h"

#include <gtest/gtest.h>

#include <set>

#include "core/operators/segment_tree.h"
#include "core/reference/evaluate.h"
#include "tests/core/tiles/cases.h"

namespace conelab::tests {
namespace {

AttentionInput<double> sequence(std::int64_t n, std::int64_t d, double spread) {
  Random random(17);
  AttentionInput<double> input;
  input.query = Tensor4<double>({1, 1, n, d});
  for (double& x : input.query.owned().data) x = random.uniform(-spread, spread);
  input.key = input.value = input.query;
  return input;
}

/// Rows enough for several blocks, and logits up to some hundred.
TEST(ListOperators, AgreeWithTheReferenceOverSeveralBlocks) {
  for (const char* text : {"star:steps=3", "star:boundary=masked", "segtree:steps=3",
                           "segtree:masks=causal:scale=-0.5"}) {
    SCOPED_TRACE(text);
    const Call call = call_from_text(text);
    AttentionInput<double> input = sequence(700, 3, 8);
    const auto plan = resolve(call, check_extents(input));
    const Forward<double> saved = forward(*plan, input);
    input.output_grad = sequence(700, 3, 1).query;
    reference::Problem problem = reference::make_problem(call, input);
    EXPECT_LE(difference(saved.output, reference::evaluate(problem).output), 1e-12);
    const Backward<double> found = backward(*plan, input, saved);
    const auto expect = [&](double found_slope, reference::Real& x) {
      const double slope = reference::central_difference(problem, x).slope;
      EXPECT_NEAR(found_slope, slope, 1e-6 * std::max(1.0, std::abs(slope)));
    };
    for (const std::int64_t i : {0, 255, 256, 512, 699}) {
      expect(*found.query.row(0, 0, i), *problem.query.row(0, 0, i));
    }
    expect(found.parameters.at("scale").front(), problem.numbers.at("scale").front());
  }
}

TEST(ListAttention, CountsATokenAsOftenAsItIsListed) {
  const double u[] = {0.5, -1}, c[] = {1, 2, -1, 0.5};
  const TokenRun<double> twice[] = {{c, 2}, {c, 1}};
  ListAttention<double> attention(2, 0.7);
  attention.add(u, twice);
  double found[2];
  const double lse = attention.finish(found);
  const double a = std::exp(0.7 * (0.5 - 2)), b = std::exp(0.7 * (-0.5 - 0.5));
  EXPECT_NEAR(found[0], (2 * a - b) / (2 * a + b), 1e-15);
  EXPECT_NEAR(found[1], (4 * a + 0.5 * b) / (2 * a + b), 1e-15);
  EXPECT_NEAR(lse, std::log(2 * a + b), 1e-15);
}

TEST(Star, OfOneStepWithAGivenRelayReadsThreeTokensARow) {
  Call call = call_from_text("star:steps=1");
  AttentionInput<double> input = sequence(9, 4, 1);
  input.tensors["relay"] = {{4}, {0.1, 0.2, 0.3, 0.4}};
  const auto plan = resolve(call, check_extents(input));
  const Tensor4<double> before = forward(*plan, input).output;
  for (std::int64_t j = 0; j < 9; ++j) {
    AttentionInput<double> moved = input;
    moved.query.owned().at(0, 0, j, 2) += 0.5;
    const Tensor4<double> after = forward(*plan, moved).output;
    for (std::int64_t i = 0; i < 9; ++i) {
      const std::int64_t apart = std::min((i - j + 9) % 9, (j - i + 9) % 9);
      EXPECT_EQ(before.at(0, 0, i, 0) != after.at(0, 0, i, 0), apart <= 1) << i << " " << j;
    }
  }
}

TEST(Star, TakesAListOfSteps) {
  const Call call = call_from_text("star:steps=1,3");
  AttentionInput<double> input = sequence(12, 4, 1);
  input.query.shape = input.key.shape = input.value.shape = {1, 2, 6, 4};
  const Forward<double> both = forward(*resolve(call, check_extents(input)), input);
  for (std::int64_t h = 0; h < 2; ++h) {
    const AttentionInput<double> one = input_of_head(input, 0, h);
    const Call own = call_from_text(h == 0 ? "star:steps=1" : "star:steps=3");
    EXPECT_EQ(head_of(both.output, 0, h).data,
              forward(*resolve(own, check_extents(one)), one).output.data);
  }
}

/// What every cell sees, itself included, listed one by one.
double listed_edges(const SegmentTree& tree) {
  std::int64_t count = tree.cells();
  for (std::int64_t u = 0; u < tree.cells(); ++u) {
    const SegmentTree::Tokens own = tree.tokens_of(tree.cell(u));
    if (u >= tree.tokens()) count += own.last - own.first;
    if (u < tree.tokens()) tree.for_seen(u, [&](std::int64_t) { ++count; });
  }
  return static_cast<double>(count);
}

TEST(SegmentTree, HasAsManyEdgesAsTheDefinition) {
  const std::int64_t sizes[] = {1, 2, 3, 5, 6, 7};
  const double full[] = {1, 7, 18, 43, 52, 64}, causal[] = {1, 6, 15, 34, 41, 49};
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_EQ(listed_edges({sizes[k], false}), full[k]) << sizes[k];
    EXPECT_EQ(listed_edges({sizes[k], true}), causal[k]) << sizes[k];
  }
  for (int power = 0; power < 12; ++power) {
    const std::int64_t n = std::int64_t{1} << power;
    EXPECT_EQ(listed_edges({n, false}), 3.0 * n * power + 1);
    EXPECT_EQ(listed_edges({n, true}), n * (2.0 * power + 1));
  }
  for (std::int64_t n = 1; n < 200; ++n) {
    EXPECT_EQ(SegmentTree(n, false).edges(), listed_edges({n, false})) << n;
    EXPECT_EQ(SegmentTree(n, true).edges(), listed_edges({n, true})) << n;
  }
}

TEST(SegmentTree, OfATokenDividesTheSequenceIntoTheCellsThatItSees) {
  for (std::int64_t n = 1; n < 150; ++n) {
    for (const bool causal : {false, true}) {
      const SegmentTree tree(n, causal);
      for (std::int64_t i = 0; i < n; ++i) {
        std::vector<int> times(static_cast<std::size_t>(n), 0);
        ++times[static_cast<std::size_t>(i)];
        tree.for_seen(i, [&](std::int64_t seen) {
          const SegmentTree::Tokens own = tree.tokens_of(tree.cell(seen));
          ASSERT_LT(own.first, own.last);
          for (std::int64_t j = own.first; j < own.last; ++j) ++times[static_cast<std::size_t>(j)];
        });
        for (std::int64_t j = 0; j < n; ++j) {
          ASSERT_EQ(times[static_cast<std::size_t>(j)], causal && j > i ? 0 : 1)
              << n << " " << i << " " << j;
        }
      }
    }
  }
}

TEST(SegmentTree, KnowsWhoSeesACell) {
  using Edges = std::set<std::pair<std::int64_t, std::int64_t>>;
  for (std::int64_t n = 1; n < 150; ++n) {
    for (const bool causal : {false, true}) {
      const SegmentTree tree(n, causal);
      Edges seen, seen_by, held, holders;
      for (std::int64_t i = 0; i < n; ++i) {
        tree.for_seen(i, [&](std::int64_t cell) { seen.emplace(i, cell); });
        tree.for_holders(i, [&](std::int64_t cell) { holders.emplace(cell, i); });
      }
      for (std::int64_t u = 0; u < tree.cells(); ++u) {
        const SegmentTree::Cell cell = tree.cell(u);
        EXPECT_EQ(tree.number(cell), u);
        for (const auto& t : {tree.seen_from_left(cell), tree.seen_from_right(cell)}) {
          for (std::int64_t i = t.first; i < t.last; ++i) seen_by.emplace(i, u);
        }
        const SegmentTree::Tokens own = tree.tokens_of(cell);
        for (std::int64_t i = own.first; cell.level > 0 && i < own.last; ++i) held.emplace(u, i);
      }
      ASSERT_EQ(seen, seen_by) << n << " " << causal;
      ASSERT_EQ(held, holders) << n;
    }
  }
}

}  // namespace
}  // namespace conelab::tests
