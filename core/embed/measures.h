// How well scores of pairs find a hierarchy.
//
//   map              mean average precision of each node's ancestors among all other nodes, ranked
//                    by score; nodes without ancestors are left out
//   map_neighbours   the same of parents and children
//   mean_rank        mean over pairs of a node and its ancestor of the ancestor's rank among nodes
//                    that are none, counted from 1
//   depth_correlation  Spearman's correlation of scores and true depths of the lowest common
//                    ancestors, over all pairs or 100,000 that are drawn
// Ties have their mean rank. Of more than `most_measured` nodes, so many are drawn for the first
// three; the mean of all lies within `map_half_width` of map with a probability of 95 %.
#pragma once

#include <functional>

#include "core/dataset/hierarchy.h"

namespace conelab {

/// Returns the score of node j for node i; larger is nearer.
using PairScore = std::function<double(Node i, Node j)>;

inline constexpr Node most_measured = 5000;

struct EmbeddingMeasures {
  double map = 0, map_half_width = 0;  ///< The half-width is 0 if all nodes are measured.
  double map_neighbours = 0, mean_rank = 0, depth_correlation = 0;
};
/// `score` is called from any thread.
[[nodiscard]] EmbeddingMeasures measure_embedding(const Hierarchy& hierarchy,
                                                  const PairScore& score, std::uint64_t seed);

/// How well ancestors are found that training did not show.
struct HeldOutMeasures {
  /// The mean average precision of the ancestors `held` of each node that has some, among all nodes
  /// but itself and the ancestors that it was trained on.
  double map = 0;
  double rank = 0;  ///< The mean rank of these ancestors among nodes that are none, from 1.
};
/// `held` [n] are the ancestors that are measured, and `trained` [n] those that are left out. NaN
/// if there are none.
[[nodiscard]] HeldOutMeasures measure_held_out(const NodeLists& held, const NodeLists& trained,
                                               const PairScore& score);

/// F1 of pairs (u, v) that are found where `is_ancestor(u, v)`, against a truth.
[[nodiscard]] double f1_of_counts(double found_true, double found_false, double missed);

/// How well the nodes `wanted` are found among the others of a node.
struct WantedRanks {
  double average_precision = 0;
  double rank_sum = 0;  ///< Of their ranks among the nodes that are not wanted, from 1.
};
/// `scores` [n] of nodes that are left out, as the node itself, are NaN.
[[nodiscard]] WantedRanks ranks_of(const std::vector<double>& scores,
                                   const std::vector<Node>& wanted);

/// Returns Spearman's correlation of two lists of equal length; NaN if one is constant or has a
/// NaN.
[[nodiscard]] double spearman(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace conelab
