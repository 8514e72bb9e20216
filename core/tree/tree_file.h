// The result of `conelab tree` as labelled groups. xarray can open each of them alone.
//
//   tree/depth         lca_depth, common_ancestor [batch, head, token, other]; token_text [token],
//                      or [batch, token]
//   tree/order         is_ancestor, cover [batch, head, ancestor, descendant];
//                      level, representative [batch, head, descendant]   (cone families only)
//   tree/dendrogram    left, right, depth, size [batch, head, merge];
//                      leaf_order [batch, head, leaf]
//   tree/placed        token_point [batch, head, token, coordinate], token_potential [.., token];
//                      merge_point [.., merge, coordinate], merge_potential [.., merge]: a common
//                      ancestor of the tokens of each merge (merge.h), NaN where there is none;
//                      parameter [.., parameter] of the family (cone families only). Attributes:
//                      cone, the family, and model, that of the coordinates
//   tree/segmentation  crossing, uniform, relative [batch, head, boundary];
//                      strongest [batch, head]
//
// For undefined tokens (head_tree.h), depths are NaN, there are no ancestors, and merges come last
// at NaN. If weights are not finite, crossing and relative are NaN and strongest is −1.
// head_tree.h, order.h, merge.h and segmentation.h define the quantities. A group without content
// is left out: no cone family, one token only, or different numbers of queries and keys.
#pragma once

#include <string>
#include <vector>

#include "core/files/bench_file.h"
#include "core/tree/head_tree.h"

namespace conelab::tree {

/// The extents and the tokens of the trees in a file.
struct TreeLabels {
  std::int64_t batch = 1, head = 1;
  /// [n] or [batch × n] The texts of the tokens (tokens_of_batch); empty if unknown.
  std::vector<std::string> tokens;
};

/// Returns the groups above. The caller adds `creator` and further attributes. Throws misuse if
/// there are not batch × head trees, or not as many texts as tokens.
[[nodiscard]] LabelledFile tree_file(const std::vector<HeadTree>& trees, const TreeLabels& labels);

/// The trees of a file.
struct StoredTrees {
  TreeLabels labels;
  std::vector<HeadTree> trees;
};
/// Reads the groups back. Throws a failure, naming the group, if something is missing.
[[nodiscard]] StoredTrees read_trees(const LabelledFile& file);

}  // namespace conelab::tree
