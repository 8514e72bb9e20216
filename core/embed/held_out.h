// Pairs and nodes that are kept from training, so that what a model has not seen can be measured.
//
// A pair is a node with an ancestor that is not its parent: what follows from the edges, and what
// training on edges and some of these pairs should find. Nothing else says which pairs were kept:
// in training they count as pairs of nodes that are unrelated.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/dataset/hierarchy.h"

namespace conelab {

using NodePairs = std::vector<std::array<Node, 2>>;

struct HeldOut {
  NodeLists trained;        ///< [n] The ancestors that each node is trained to find.
  NodeLists held;           ///< [n] The others.
  NodePairs pairs;          ///< The pairs (node, ancestor) of `held`, in the order of the drawing.
  NodePairs trained_pairs;  ///< All edges, and then the further pairs of `trained`.
  std::vector<Node> seen, unseen;  ///< The nodes that are trained, and those that are not.
};

/// Draws `share` of the pairs and `node_share` of the nodes without children, both in [0, 1). The
/// lists of `unseen` nodes are empty in `trained`, and in `held` too.
[[nodiscard]] HeldOut hold_out(const Hierarchy& hierarchy, const NodeLists& closure, double share,
                               double node_share, std::uint64_t seed);

}  // namespace conelab
