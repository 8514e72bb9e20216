// The result of `conelab tree` as labelled groups, each of which opens by itself in xarray.
//
//   tree/depth         lca_depth, common_ancestor [batch, head, token, other]; token_text [token]
//   tree/order         is_ancestor, cover [batch, head, ancestor, descendant];
//                      level, representative [batch, head, descendant]   (cone families only)
//   tree/dendrogram    left, right, depth, size [batch, head, merge];
//                      leaf_order [batch, head, leaf]
//   tree/segmentation  crossing, uniform, relative [batch, head, boundary];
//                      strongest [batch, head]
//
// Tokens whose numbers are not finite have NaN depths, no ancestors, and merge last at NaN; where
// weights are not finite, crossing and relative are NaN and strongest is −1.
// What each means is in head_tree.h, order.h, merge.h and segmentation.h. Groups without content
// (no cone family, one token only, queries and keys that differ in number) are left out.
#pragma once

#include <string>
#include <vector>

#include "core/files/bench_file.h"
#include "core/tree/head_tree.h"

namespace conelab::tree {

/// What the trees are of.
struct TreeLabels {
  std::int64_t batch = 1, head = 1;
  std::vector<std::string> tokens;  ///< Texts [n]; empty: none known.
};

/// The groups above; `creator` and further attributes are the caller's. Misuse when there are not
/// batch × head trees, or not one text a token.
[[nodiscard]] LabelledFile tree_file(const std::vector<HeadTree>& trees, const TreeLabels& labels);

/// The inverse: what figures draw. Failure, naming the group, where something is missing.
struct StoredTrees {
  TreeLabels labels;
  std::vector<HeadTree> trees;
};
[[nodiscard]] StoredTrees read_trees(const LabelledFile& file);

}  // namespace conelab::tree
