// Agglomerative merging of tokens by the depth of their lowest common ancestor: a dendrogram.
//
// The two clusters whose members have the deepest common ancestors merge first; the depth of a
// cluster is the smallest depth over its pairs (complete linkage). Under cones in the hyperbolic
// plane that is exactly the depth of the lowest common ancestor of all its tokens, since shadows
// are intervals there; in more dimensions it bounds it from below. Any other symmetric similarity
// gives the ordinary complete-linkage dendrogram, so that operators compare.
#pragma once

#include <cstdint>
#include <vector>

namespace conelab::tree {

/// Clusters are numbered as in SciPy: tokens 0 … n−1, the k-th merge makes cluster n + k.
struct Merge {
  std::int64_t left = 0, right = 0;  ///< `left` holds the smaller first token.
  double depth = 0;                  ///< Never above that of an earlier merge; NaNs come last.
  std::int64_t size = 0;             ///< Tokens in the new cluster.
};

struct Dendrogram {
  std::vector<Merge> merges;             ///< n − 1, none for fewer than two tokens.
  std::vector<std::int64_t> leaf_order;  ///< [n] tokens as the dendrogram draws them, left first.
};

/// `depth` is [n × n], row-major; the mean of both triangles counts, the diagonal does not. A
/// depth that is NaN is unknown: it lies below all others, and clusters that contain such a pair
/// meet at NaN, after all merges with a depth. Ties go to the pair with the smallest first tokens,
/// so the answer is the same every time. O(n²) in the usual case, O(n³) at worst.
[[nodiscard]] Dendrogram merge_by_depth(const std::vector<double>& depth, std::size_t n);

}  // namespace conelab::tree
