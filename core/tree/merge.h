// Agglomerative clustering of tokens by the depth of their lowest common ancestors; the result is a
// dendrogram.
//
// In each step the two clusters with the deepest common ancestor merge. The depth of a cluster is
// the smallest depth of its pairs (complete linkage). For cones in the hyperbolic plane this is
// exactly the depth of the lowest common ancestor of all its tokens, because shadows are intervals
// there; in more dimensions it is a lower bound of that depth. For any other symmetric similarity
// the result is the usual complete-linkage dendrogram, so that operators can be compared.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/geometry/cone_law.h"

namespace conelab::tree {

/// One merge. Clusters are numbered as in SciPy: tokens are 0 … n−1, merge k creates cluster n + k.
struct Merge {
  /// `left` is the cluster that contains the smaller first token.
  std::int64_t left = 0, right = 0;
  double depth = 0;       ///< Never above that of an earlier merge; NaN comes last.
  std::int64_t size = 0;  ///< The number of tokens in the new cluster.
};

struct Dendrogram {
  std::vector<Merge> merges;             ///< [n − 1], empty for fewer than two tokens.
  std::vector<std::int64_t> leaf_order;  ///< [n] The tokens in drawing order, from left to right.
};

/// Computes the dendrogram. `depth` is [n × n], row-major; the mean of d(i,j) and d(j,i) is used,
/// and the diagonal is ignored. A depth of NaN is unknown and counts as lower than all others:
/// clusters with such a pair merge at NaN, after all merges with a known depth. Among equal depths,
/// the pair with the smallest first tokens merges first, so that the result is deterministic. The
/// time is O(n²) in the usual case, O(n³) at worst.
[[nodiscard]] Dendrogram merge_by_depth(const std::vector<double>& depth, std::size_t n);

// The tokens of a head as points of the model of its cone family, and the common ancestors of the
// clusters of its dendrogram.

/// The tokens of one head as elements of a cone family. All numbers of an undefined token
/// (head_tree.h) are NaN.
struct HeadElements {
  geometry::ConeSystem system;
  std::vector<geometry::Element> elements;  ///< [n]
};

/// Returns the model in which points of a family are stored: the half-space for a source at
/// infinity, and the ball for a finite one, which is at its centre.
[[nodiscard]] geometry::Model model_of(const geometry::ConeSystem& system);

/// Returns a common ancestor of all tokens of each merge [n − 1]: the LCA of those of the two
/// clusters. In the hyperbolic plane it is the lowest. It is absent where there is none, or where a
/// token is undefined.
[[nodiscard]] std::vector<std::optional<geometry::Element>> merge_ancestors(
    const HeadElements& tokens, const Dendrogram& dendrogram);

// How well the clusters of a dendrogram are those of a known tree.
//
// A cluster is a set of two tokens or more, but not of all. With the clusters A of the tree and B
// of the dendrogram, which has n − 2:
//   Robinson-Foulds distance   (|A \ B| + |B \ A|) / (|A| + |B|)          (Robinson, Foulds 1981)
//   F1                         2 |A ∩ B| / (|A| + |B|) = 1 − that distance
// A dendrogram joins two clusters at a time. If the tree has fewer clusters than n − 2, the
// distance is at least (n − 2 − |A|) / (n − 2 + |A|), and F1 at most 1 minus this.

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
