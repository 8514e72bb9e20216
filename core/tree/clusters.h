// How well the clusters of a dendrogram are those of a known tree.
//
// A cluster is a set of two tokens or more, but not of all. With the clusters A of the tree and B
// of the dendrogram, which has n − 2:
//   Robinson-Foulds distance   (|A \ B| + |B \ A|) / (|A| + |B|)          (Robinson, Foulds 1981)
//   F1                         2 |A ∩ B| / (|A| + |B|) = 1 − that distance
// A dendrogram joins two clusters at a time. If the tree has fewer clusters than n − 2, the
// distance is at least (n − 2 − |A|) / (n − 2 + |A|), and F1 at most 1 minus this.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "core/tree/merge.h"

namespace conelab::tree {

using Cluster = std::vector<std::int64_t>;  ///< Ascending numbers of tokens.

/// Returns the clusters of a dendrogram.
[[nodiscard]] std::set<Cluster> clusters_of(const Dendrogram& dendrogram);

struct ClusterMatch {
  double f1 = 1, most_f1 = 1;  ///< What was found, and the most that is possible; 1 without any.
};
/// Compares the dendrogram with the clusters of a tree. Sets of one token and of all count nothing.
[[nodiscard]] ClusterMatch match_clusters(const std::set<Cluster>& known,
                                          const Dendrogram& dendrogram);

}  // namespace conelab::tree
