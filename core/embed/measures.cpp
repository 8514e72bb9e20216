#include "core/embed/measures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/parallel.h"
#include "core/base/random.h"

namespace conelab {
namespace {

constexpr std::size_t most_pairs = 100000;

/// Returns half a rank for each score that equals `score`, and one for each above it.
double rank_of(const std::vector<double>& scores, double score) {
  std::int64_t halves = 0;
  for (const double other : scores) halves += std::int64_t{other > score} + (other >= score);
  return static_cast<double>(halves) / 2;
}

/// Returns the ranks of numbers, counted from 0; ties have their mean rank.
std::vector<double> ranks(const std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> rank(x.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && x[order[end]] == x[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      rank[order[i]] = static_cast<double>(begin + end - 1) / 2;
    }
  }
  return rank;
}

/// Returns the scores of all nodes for a node, with NaN for itself.
std::vector<double> scores_of(Node node, std::size_t count, const PairScore& score) {
  std::vector<double> scores(count, std::nan(""));
  for (std::size_t j = 0; j < count; ++j) {
    const auto other = static_cast<Node>(j);
    if (other != node) scores[j] = score(node, other);
  }
  return scores;
}

std::vector<Node> measured_nodes(Node count, Random& random) {
  std::vector<Node> nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  if (count > most_measured) {
    random.shuffle(nodes);
    nodes.resize(most_measured);
  }
  return nodes;
}

double depth_correlation(const Hierarchy& hierarchy, const NodeLists& ancestors,
                         const PairScore& score, Random& random) {
  const Node n = hierarchy.size();
  std::vector<double> scores, depths;
  const auto add = [&](Node i, Node j) {
    scores.push_back(score(i, j));
    depths.push_back(static_cast<double>(depth_of_lca(hierarchy, ancestors, i, j)));
  };
  if (static_cast<std::size_t>(n) * static_cast<std::size_t>(n) <= 2 * most_pairs) {
    for (Node i = 0; i < n; ++i) {
      for (Node j = 0; j < i; ++j) add(i, j);
    }
  } else {
    while (scores.size() < most_pairs) {
      const auto i = static_cast<Node>(random.below(static_cast<std::uint64_t>(n)));
      const auto j = static_cast<Node>(random.below(static_cast<std::uint64_t>(n)));
      if (i != j) add(i, j);
    }
  }
  return spearman(scores, depths);
}

}  // namespace

double f1_of_counts(double found_true, double found_false, double missed) {
  const double sum = 2 * found_true + found_false + missed;
  return sum == 0 ? 0 : 2 * found_true / sum;
}

// The precision at a wanted node is the number of wanted nodes down to its rank, over this rank.
WantedRanks ranks_of(const std::vector<double>& scores, const std::vector<Node>& wanted) {
  std::vector<double> own;
  for (const Node each : wanted) own.push_back(scores[static_cast<std::size_t>(each)]);
  WantedRanks ranks;
  for (const double score : own) {  // Each equals itself.
    const double all = rank_of(scores, score) + 0.5, among_own = rank_of(own, score) + 0.5;
    ranks.average_precision += among_own / all / static_cast<double>(own.size());
    ranks.rank_sum += 1 + all - among_own;
  }
  return ranks;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (std::ranges::any_of(a, is_nan) || std::ranges::any_of(b, is_nan)) return std::nan("");
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

HeldOutMeasures measure_held_out(const NodeLists& held, const NodeLists& trained,
                                 const PairScore& score) {
  HeldOutMeasures sums;
  double nodes = 0, pairs = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i].empty()) continue;
    std::vector<double> scores = scores_of(static_cast<Node>(i), held.size(), score);
    for (const Node known : trained[i]) scores[static_cast<std::size_t>(known)] = std::nan("");
    const WantedRanks ranks = ranks_of(scores, held[i]);
    sums.map += ranks.average_precision, ++nodes;
    sums.rank += ranks.rank_sum, pairs += static_cast<double>(held[i].size());
  }
  return {sums.map / nodes, sums.rank / pairs};
}

EmbeddingMeasures measure_embedding(const Hierarchy& hierarchy, const PairScore& score,
                                    std::uint64_t seed) {
  Random random(seed);
  const NodeLists ancestors = ancestors_of(hierarchy), parents = parents_of(hierarchy),
                  children = children_of(hierarchy);
  const std::vector<Node> nodes = measured_nodes(hierarchy.size(), random);
  std::vector<WantedRanks> above(nodes.size()), near(nodes.size());
  run_blocks(
      static_cast<std::int64_t>(nodes.size()), 16, {}, [&](std::int64_t begin, std::int64_t end) {
        for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at) {
          const auto row = static_cast<std::size_t>(nodes[at]);
          const std::vector<double> scores = scores_of(nodes[at], ancestors.size(), score);
          std::vector<Node> neighbours = parents[row];
          neighbours.insert(neighbours.end(), children[row].begin(), children[row].end());
          above[at] = ranks_of(scores, ancestors[row]);
          near[at] = ranks_of(scores, neighbours);
        }
      });
  EmbeddingMeasures sums;
  double with_ancestors = 0, with_neighbours = 0, pairs = 0, squares = 0;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const auto row = static_cast<std::size_t>(nodes[at]);
    sums.map += above[at].average_precision;
    squares += above[at].average_precision * above[at].average_precision;
    sums.mean_rank += above[at].rank_sum;
    sums.map_neighbours += near[at].average_precision;
    with_ancestors += !ancestors[row].empty();
    with_neighbours += !parents[row].empty() || !children[row].empty();
    pairs += static_cast<double>(ancestors[row].size());
  }
  sums.map /= with_ancestors;
  const double variance = squares / with_ancestors - sums.map * sums.map;
  const double unseen =
      1 - static_cast<double>(nodes.size()) / static_cast<double>(hierarchy.size());
  sums.map_half_width = 1.96 * std::sqrt(std::max(0.0, variance) * unseen / with_ancestors);
  sums.map_neighbours /= with_neighbours;
  sums.mean_rank /= pairs;
  sums.depth_correlation = depth_correlation(hierarchy, ancestors, score, random);
  return sums;
}

}  // namespace conelab
