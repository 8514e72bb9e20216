#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/dataset/dataset.h"
#include "core/embed/ancestor_loss.h"
#include "core/embed/construction.h"
#include "core/embed/descent.h"
#include "core/embed/held_out.h"
#include "core/embed/measures.h"
#include "core/embed/token_source.h"

namespace conelab {
namespace {

const char* const similarities[] = {"dot",    "laplacian",        "hyperbolic",    "penumbral",
                                    "umbral", "penumbral-finite", "umbral-finite", "ganea"};
/// The largest error of a central difference with step 1e-6 that was measured is 3e-9.
constexpr double step = 1e-6, tolerance = 1e-7;

/// Returns four tokens.
PlacedTokens four_tokens(const PairModel& model) {
  PlacedTokens tokens = drawn_points(4, model.dim(), 5);
  for (double& x : tokens.point) x *= 8;
  model.place(tokens);
  return tokens;
}

/// Returns the central difference of f at x.
template <class F>
double difference(double x, const F& f) {
  const double below = f(x - step);
  return (f(x + step) - below) / (2 * step);
}

struct Gradient {
  std::vector<double> point, parameter;
};

/// Returns what `add` adds to the sums of the tokens and of the parameters, finished.
template <class Add>
Gradient gradient_of_sums(const PairModel& model, const PlacedTokens& tokens, const Add& add) {
  TokenSums sums = model.sums(tokens);
  ParameterSlopes dp = model.parameter_slopes();
  add(sums, dp);
  model.finish(tokens, sums, dp);
  return {sums.point, model.parameter_gradient(dp)};
}

/// Compares dL/d(point) and dL/d(parameter) with central differences of L. Parameters begin away
/// from their defaults.
template <class Loss, class Slopes>
void expect_gradient(const char* name, int dim, const Loss& loss, const Slopes& gradient) {
  PairModel model(name, dim);
  std::vector<double> values = model.values();
  for (double& value : values) value = 1.25 * value + (value == 0 ? 0.5 : 0);
  model.set_values(values);
  PlacedTokens tokens = four_tokens(model);
  const Gradient slopes = gradient(model, tokens);
  for (std::size_t c = 0; c < tokens.point.size(); ++c) {
    const double x = tokens.point[c];
    const double found = difference(x, [&](double moved) {
      tokens.point[c] = moved;
      model.place(tokens);
      return loss(model, tokens);
    });
    tokens.point[c] = x;
    EXPECT_NEAR(slopes.point[c], found, tolerance) << name << ", coordinate " << c;
  }
  ASSERT_EQ(slopes.parameter.size(), values.size()) << name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double found = difference(values[i], [&](double moved) {
      std::vector<double> other = values;
      other[i] = moved;
      model.set_values(other);
      model.place(tokens);
      return loss(model, tokens);
    });
    EXPECT_NEAR(slopes.parameter[i], found, tolerance * std::max(1.0, std::abs(found)))
        << name << ", " << model.row().parameters[i].key;
  }
}

TEST(PairModel, HasTheGradientsOfItsLogits) {
  for (const char* name : similarities) {
    expect_gradient(
        name, 3,
        [](const PairModel& model, const PlacedTokens& t) {
          return model.score(t, 0, t, 1) - 2 * model.score(t, 2, t, 0) + model.score(t, 3, t, 3);
        },
        [](const PairModel& model, const PlacedTokens& t) {
          return gradient_of_sums(model, t, [&](TokenSums& sums, ParameterSlopes& dp) {
            for (const auto& [i, j, rate] : {std::tuple(0, 1, 1.0), {2, 0, -2.0}, {3, 3, 1.0}}) {
              model.add(model.slope(t, i, t, j), rate, t, i, sums, t, j, sums, dp);
            }
          });
        });
  }
}

/// The cross entropy of four nodes of a chain, from the scores of all pairs.
double loss_of_chain(const PairModel& model, const PlacedTokens& t) {
  double loss = 0;
  for (Node i = 0; i < 4; ++i) {
    double sum = 0, wanted = 0;
    for (Node j = 0; j < 4; ++j) sum += std::exp(model.score(t, i, t, j));
    for (Node j = 0; j <= i; ++j) wanted += model.score(t, i, t, j) / static_cast<double>(i + 1);
    loss += (std::log(sum) - wanted) / 4;
  }
  return loss;
}

TEST(AncestorLoss, IsThatOfAllPairsWithItsGradients) {
  const NodeLists chain = {{}, {0}, {0, 1}, {0, 1, 2}};
  for (const char* name : similarities) {
    for (const int dim : {2, 3}) {
      expect_gradient(name, dim, loss_of_chain, [&](const PairModel& model, PlacedTokens& t) {
        const AncestorLoss found = ancestor_loss(model, t, t, chain, {});
        EXPECT_NEAR(found.loss, loss_of_chain(model, t), 1e-12) << name;
        std::vector<double> point = found.query;
        for (std::size_t c = 0; c < point.size(); ++c) point[c] += found.key[c];
        return Gradient{point, found.parameter};
      });
    }
  }
}

TEST(AncestorLoss, OfManyConesInThePlaneLooksAtNoPairs) {
  EXPECT_FALSE(sums_all_pairs(PairModel("umbral", 2)));
  EXPECT_TRUE(sums_all_pairs(PairModel("umbral", 3)));
  EXPECT_TRUE(sums_all_pairs(PairModel("dot", 2)));
}

TEST(ConeOrder, HasTheGradientsOfItsEnergy) {
  for (const char* name : similarities) {
    const PairModel model(name, 3);
    const auto order = ConeOrder::of(model);
    EXPECT_EQ(order.has_value(),
              std::string("dot laplacian hyperbolic").find(name) == std::string::npos);
    if (!order) continue;
    expect_gradient(
        name, 3,
        [](const PairModel& own, const PlacedTokens& t) {
          return ConeOrder::of(own)->energy(own, t, 0, 1);
        },
        [](const PairModel& own, const PlacedTokens& t) {
          return gradient_of_sums(own, t, [&](TokenSums& sums, ParameterSlopes& dp) {
            ConeOrder::of(own)->add(own, t, 0, 1, 1, sums, dp);
          });
        });
  }
}

TEST(ConeOrder, DecidesAsItsDefinition) {
  const PairModel model("umbral", 2, {{"radius", 1}});
  PlacedTokens tokens;
  tokens.count = 3;
  tokens.point = {0, 0, 0.5, -2, 2, -2};  // psi: base x e^y, height e^y.
  model.place(tokens);
  const ConeOrder order = *ConeOrder::of(model);
  const double e = std::exp(-2), s = std::sinh(1);
  EXPECT_NEAR(order.energy(model, tokens, 1, 0), 0.5 * e - (1 - e) * s, 1e-14);
  EXPECT_LT(order.energy(model, tokens, 1, 0), 0);
  EXPECT_GT(order.energy(model, tokens, 1, 2), 0);
}

TEST(PairModel, RefusesWhatPairsDoNotGive) {
  EXPECT_THROW(PairModel("gat", 3), Error);
  EXPECT_THROW(PairModel("umbral", 1), Error);
  EXPECT_THROW(PairModel("umbral", 3, {{"height", 1.0}}), Error);
}

TEST(ParameterDescent, FindsTheLeastOfAFunctionOfFreeParametersInTheirDomains) {
  PairModel model("umbral", 3, {{"gamma", 2.0}});
  ParameterDescent descent;
  for (int i = 0; i < 3000; ++i) descent.step(model, {1.0, model.values()[1] - 0.7}, 0.1);
  EXPECT_NEAR(model.values()[1], 0.7, 1e-6);
  EXPECT_EQ(model.values()[0], 2);
  // The logarithm decreases by a tenth of the rate in each step; the radius stays positive.
  descent = ParameterDescent();
  for (int i = 0; i < 3000; ++i) descent.step(model, {0.0, 1 / model.values()[1]}, 0.1);
  EXPECT_EQ(model.values()[1], 1e-9);
  PairModel offset("hyperbolic", 3);
  descent = ParameterDescent();
  descent.step(offset, {0.0, 1e-14}, 0.01);  // The rounding of an offset under softmax.
  EXPECT_EQ(offset.values(), PairModel("hyperbolic", 3).values());
}

/// The average precision by sorting, without ties.
double sorted_precision(const std::vector<double>& scores, Node node,
                        const std::vector<Node>& wanted) {
  std::vector<Node> others;
  for (Node j = 0; j < static_cast<Node>(scores.size()); ++j) {
    if (j != node) others.push_back(j);
  }
  std::sort(others.begin(), others.end(), [&](Node a, Node b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  double found = 0, sum = 0;
  for (std::size_t r = 0; r < others.size(); ++r) {
    if (!std::binary_search(wanted.begin(), wanted.end(), others[r])) continue;
    sum += ++found / static_cast<double>(r + 1);
  }
  return sum / static_cast<double>(wanted.size());
}

TEST(Measures, AveragePrecisionIsThatOfSorting) {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> scores(12);
    for (double& x : scores) x = random.uniform();
    const double sorted = sorted_precision(scores, 4, {0, 3, 7});
    scores[4] = NAN;
    EXPECT_NEAR(ranks_of(scores, {0, 3, 7}).average_precision, sorted, 1e-14);
  }
  // Ties, all of them wanted; and ranks 2 and 3 tied.
  EXPECT_DOUBLE_EQ(ranks_of({NAN, 1, 1, 1}, {1, 2, 3}).average_precision, 1);
  EXPECT_DOUBLE_EQ(ranks_of({NAN, 5, 1, 1}, {2}).average_precision, 1 / 2.5);
  EXPECT_DOUBLE_EQ(ranks_of({NAN, 5, 1, 1}, {2}).rank_sum, 2.5);
}

TEST(Measures, SpearmanTakesMeanRanks) {
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {10, 20, 30, 40}), 1);
  EXPECT_DOUBLE_EQ(spearman({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  EXPECT_TRUE(std::isnan(spearman({1, 2, NAN, 4}, {4, 3, 2, 1})));
  EXPECT_NEAR(spearman({1, 2, 2, 3}, {1, 3, 2, 4}), 0.9486832980505138, 1e-15);  // 4.5 / √(4.5 · 5)
}

// A chain 0 - 1 - 2: node 2 has the ancestors 0 and 1, node 1 has 0.
TEST(Measures, OfAChainAreThoseOfAHand) {
  const Hierarchy chain = make_hierarchy({{1, 0}, {2, 1}}, {"a", "b", "c"});
  const double near[3][3] = {{0, 3, 1}, {1, 0, 2}, {2, 1, 0}};
  const auto found = measure_embedding(
      chain, [&](Node i, Node j) { return near[i][j]; }, 1);
  EXPECT_DOUBLE_EQ(found.map, (0.5 + 1) / 2);
  EXPECT_EQ(found.map_half_width, 0);
  EXPECT_DOUBLE_EQ(found.map_neighbours, (1 + 1 + 0.5) / 3);
  EXPECT_DOUBLE_EQ(found.mean_rank, (2 + 1 + 1) / 3.0);
  // Scores 1, 2, 1 of the pairs (1, 0), (2, 0), (2, 1) against depths 0, 0, 1 of their ancestors.
  EXPECT_DOUBLE_EQ(found.depth_correlation, -0.5);
}

TEST(Measures, OfManyNodesAreThoseOfASampleWithItsInterval) {
  const Hierarchy tree = *make_dataset("tree", {{"branching", "9"}, {"depth", "4"}}).hierarchy;
  const auto score = [](Node i, Node j) { return static_cast<double>(i * (j + 7) * 61 % 1009); };
  const NodeLists above = ancestors_of(tree);
  double sum = 0;
  std::vector<double> scores(above.size());
  for (Node i = 1; i < tree.size(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Node j = 0; j < tree.size(); ++j) scores[static_cast<std::size_t>(j)] = score(i, j);
    scores[row] = NAN;
    sum += ranks_of(scores, above[row]).average_precision;
  }
  const auto found = measure_embedding(tree, score, 1);
  const double all = sum / static_cast<double>(tree.size() - 1);
  EXPECT_GT(found.map_half_width, 0);
  EXPECT_LT(found.map_half_width, 0.1 * all);
  EXPECT_NE(found.map, all);
  EXPECT_NEAR(found.map, all, 2 * found.map_half_width);
}

// The chain a - b - c - d. Node 3 was trained on 2 and has 0 and 1 held back; of the others that
// are not its ancestors there is none but node 4, a root of its own.
TEST(Measures, OfHeldOutAncestorsAreThoseOfAHand) {
  const double near[5] = {3, 9, 5, 0, 4};
  const auto found = measure_held_out({{}, {}, {}, {0, 1}, {}}, {{}, {0}, {1}, {2}, {}},
                                      [&](Node, Node j) { return near[j]; });
  EXPECT_DOUBLE_EQ(found.map, (1 + 2 / 3.0) / 2);  // 1 is first, 0 third behind 4.
  EXPECT_DOUBLE_EQ(found.rank, (1 + 2) / 2.0);
}

TEST(HoldOut, DrawsPairsBeyondTheEdgesAndWholeLeaves) {
  const Hierarchy tree = *make_dataset("tree", {{"depth", "4"}}).hierarchy;  // 31 nodes, 16 leaves.
  const NodeLists closure = ancestors_of(tree), parents = parents_of(tree);
  const HeldOut out = hold_out(tree, closure, 0.25, 0.5, 7);
  EXPECT_EQ(out.unseen.size(), 8u);
  EXPECT_EQ(out.seen.size(), 23u);
  std::size_t pairs = 0;
  for (Node i = 0; i < tree.size(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    const bool unseen = std::ranges::binary_search(out.unseen, i);
    std::vector<Node> both = out.trained[n];
    both.insert(both.end(), out.held[n].begin(), out.held[n].end());
    std::ranges::sort(both);
    EXPECT_EQ(both, unseen ? std::vector<Node>() : closure[n]);
    for (const Node above : out.held[n]) EXPECT_EQ(std::ranges::count(parents[n], above), 0);
    pairs += out.held[n].size();
  }
  // Of 2 · 0 + 4 · 1 + 8 · 2 + 8 · 3 further pairs of nodes that are seen, a quarter.
  EXPECT_EQ(pairs, 11u);
  EXPECT_EQ(out.pairs.size(), 11u);
  EXPECT_EQ(out.trained_pairs.size(), 22u + 33u);
  EXPECT_NE(hold_out(tree, closure, 0.25, 0.5, 8).pairs, out.pairs);
}

/// Descends the squared distance of a source's points to these, and returns the largest that is
/// left.
double distance_after_descent(TokenKind kind, const Features& features,
                              const std::vector<double>& wanted) {
  TokenSource source(kind, features.count(), 2, 16, features, 3);
  for (int i = 0; i < 3000; ++i) {
    std::vector<double> slope = source.points(features);
    for (std::size_t c = 0; c < slope.size(); ++c) slope[c] -= wanted[c];
    source.step(features, slope, falling_rate(0.03, i, 3000));
  }
  double most = 0;
  const std::vector<double> found = source.points(features);
  for (std::size_t c = 0; c < found.size(); ++c) {
    most = std::max(most, std::abs(found[c] - wanted[c]));
  }
  return most;
}

TEST(TokenSource, FitsWhatItsKindCan) {
  const Features corners{{-1, -1, -1, 1, 1, -1, 1, 1}, 2};
  const std::vector<double> sums = {-2, 1, 0, 3, 0, -1, 2, 1};  // x + y, y − x + 1
  const std::vector<double> product = {1, 0, -1, 0, -1, 0, 1, 0};
  EXPECT_LT(distance_after_descent(TokenKind::own, corners, product), 1e-3);
  EXPECT_LT(distance_after_descent(TokenKind::linear, corners, sums), 1e-3);
  EXPECT_NEAR(distance_after_descent(TokenKind::linear, corners, product), 1, 1e-3);
  EXPECT_LT(distance_after_descent(TokenKind::layers, corners, product), 1e-2);
}

TEST(TokenSource, ScalesFeaturesByTheNodesThatAreSeen) {
  const Features scaled = scaled_features({{1, 5, 3, 5, 9, 7}, 2}, std::vector<Node>{0, 1});
  EXPECT_EQ(scaled.value, (std::vector<double>{-1, 0, 1, 0, 7, 0}));
}

/// The scores of a construction as hyperbolic distances, by the engine's own formula.
EmbeddingMeasures measured(const Hierarchy& hierarchy, int dim) {
  const PairModel model("hyperbolic", dim + 1);
  PlacedTokens tokens;
  tokens.count = hierarchy.size();
  const Construction made = constructed(hierarchy, dim, 0, 1);
  tokens.point = made.points;
  model.place(tokens);
  for (const auto& [child, parent] : hierarchy.edges) {
    EXPECT_NEAR(-model.score(tokens, child, tokens, parent), made.scale, 1e-6);
  }
  return measure_embedding(
      hierarchy, [&](Node i, Node j) { return model.score(tokens, i, tokens, j); }, 1);
}

TEST(Construction, FindsTheNeighboursOfTreesExactly) {
  for (const int dim : {2, 3, 5}) {
    for (const char* branching : {"2", "3"}) {
      const auto made = make_dataset("tree", {{"branching", branching}, {"depth", "4"}});
      EXPECT_EQ(measured(*made.hierarchy, dim).map_neighbours, 1) << dim << ", " << branching;
    }
  }
}

TEST(Descent, FindsTheAncestorsOfASmallTree) {
  const Hierarchy tree = *make_dataset("tree", {{"depth", "3"}}).hierarchy;
  for (const char* name : similarities) {
    for (const std::int64_t negatives : {14, 0}) {
      PairModel model(name, 8);
      PlacedTokens tokens = drawn_points(tree.size(), 8, 1);
      DescentOptions options;
      options.epochs = 300;
      options.negatives = negatives;
      const double loss = train_attention(model, tokens, ancestors_of(tree), options);
      const auto found = measure_embedding(
          tree, [&](Node i, Node j) { return model.score(tokens, i, tokens, j); }, 1);
      EXPECT_GT(found.map, 0.8) << name << ", " << negatives << ": loss " << loss;
    }
  }
}

TEST(Descent, PutsASmallTreeIntoCones) {
  const Hierarchy tree = *make_dataset("tree", {{"depth", "3"}}).hierarchy;
  const NodeLists closure = ancestors_of(tree);
  for (const char* name : {"penumbral", "umbral"}) {
    PairModel model(name, 4);
    PlacedTokens tokens = drawn_points(tree.size(), 4, 1);
    ConeOrder order = *ConeOrder::of(model);
    std::vector<std::array<Node, 2>> pairs;
    for (Node u = 0; u < tree.size(); ++u) {
      for (const Node v : closure[static_cast<std::size_t>(u)]) pairs.push_back({u, v});
    }
    DescentOptions options;
    options.epochs = 500;
    options.negatives = 10;
    train_order(model, tokens, order, pairs, closure, options);
    double right = 0, wrong = 0;
    for (Node u = 0; u < tree.size(); ++u) {
      for (Node v = 0; v < tree.size(); ++v) {
        if (u == v || order.energy(model, tokens, u, v) > 0) continue;
        const auto& above = closure[static_cast<std::size_t>(u)];
        (std::binary_search(above.begin(), above.end(), v) ? right : wrong) += 1;
      }
    }
    const double missed = static_cast<double>(pairs.size()) - right;
    EXPECT_GT(f1_of_counts(right, wrong, missed), 0.9) << name;
  }
}

}  // namespace
}  // namespace conelab
