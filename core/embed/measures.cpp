#include "core/embed/measures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/random.h"

namespace conelab {
namespace {

constexpr Node most_rows = 5000;
constexpr std::size_t most_pairs = 100000;

/// How many other nodes score above, and as much as, a node.
struct Ranked {
  double above = 0, equal = 0;
};
template <class Counted>
Ranked rank_of(const std::vector<double>& scores, double score, const Counted& counted) {
  Ranked rank;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (!counted(static_cast<Node>(j))) continue;
    rank.above += scores[j] > score;
    rank.equal += scores[j] == score;
  }
  return rank;
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

std::vector<Node> measured_nodes(Node count, Random& random) {
  std::vector<Node> nodes(static_cast<std::size_t>(count));
  std::iota(nodes.begin(), nodes.end(), 0);
  if (count > most_rows) {
    random.shuffle(nodes);
    nodes.resize(most_rows);
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
double average_precision(const std::vector<double>& scores, Node node,
                         const std::vector<Node>& wanted) {
  double sum = 0;
  for (const Node each : wanted) {
    const double score = scores[static_cast<std::size_t>(each)];
    const Ranked all = rank_of(scores, score, [&](Node j) { return j != node && j != each; });
    Ranked own;
    for (const Node other : wanted) {
      if (other == each) continue;
      own.above += scores[static_cast<std::size_t>(other)] > score;
      own.equal += scores[static_cast<std::size_t>(other)] == score;
    }
    sum += (1 + own.above + own.equal / 2) / (1 + all.above + all.equal / 2);
  }
  return wanted.empty() ? 0 : sum / static_cast<double>(wanted.size());
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
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
  std::vector<double> scores(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i].empty()) continue;
    const auto node = static_cast<Node>(i);
    for (std::size_t j = 0; j < scores.size(); ++j) scores[j] = score(node, static_cast<Node>(j));
    for (const Node known : trained[i]) scores[static_cast<std::size_t>(known)] = -INFINITY;
    sums.map += average_precision(scores, node, held[i]), ++nodes;
    for (const Node each : held[i]) {
      const Ranked rank = rank_of(scores, scores[static_cast<std::size_t>(each)], [&](Node j) {
        return j != node && !std::ranges::binary_search(held[i], j) &&
               !std::ranges::binary_search(trained[i], j);
      });
      sums.rank += 1 + rank.above + rank.equal / 2;
      ++pairs;
    }
  }
  return {sums.map / nodes, sums.rank / pairs};
}

EmbeddingMeasures measure_embedding(const Hierarchy& hierarchy, const PairScore& score,
                                    std::uint64_t seed) {
  Random random(seed);
  const NodeLists ancestors = ancestors_of(hierarchy), parents = parents_of(hierarchy),
                  children = children_of(hierarchy);
  EmbeddingMeasures sums;
  double with_ancestors = 0, with_neighbours = 0, pairs = 0;
  std::vector<double> scores(hierarchy.names.size());
  for (const Node i : measured_nodes(hierarchy.size(), random)) {
    for (Node j = 0; j < hierarchy.size(); ++j) scores[static_cast<std::size_t>(j)] = score(i, j);
    const auto row = static_cast<std::size_t>(i);
    const std::vector<Node>& above = ancestors[row];
    std::vector<Node> near = parents[row];
    near.insert(near.end(), children[row].begin(), children[row].end());
    std::sort(near.begin(), near.end());
    if (!above.empty()) sums.map += average_precision(scores, i, above), ++with_ancestors;
    if (!near.empty()) sums.map_neighbours += average_precision(scores, i, near), ++with_neighbours;
    for (const Node each : above) {
      const Ranked rank = rank_of(scores, scores[static_cast<std::size_t>(each)], [&](Node j) {
        return j != i && !std::binary_search(above.begin(), above.end(), j);
      });
      sums.mean_rank += 1 + rank.above + rank.equal / 2;
      ++pairs;
    }
  }
  return {sums.map / with_ancestors, sums.map_neighbours / with_neighbours, sums.mean_rank / pairs,
          depth_correlation(hierarchy, ancestors, score, random)};
}

}  // namespace conelab
