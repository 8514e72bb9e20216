// The loss of heads whose tokens should attend to their ancestors and themselves, over all keys.
//
// The target of a row is uniform over the set P of these; the loss is the cross entropy
//   L = mean over i of ( log Σ_j e^{l_ij} − 1/|P| Σ_{p in P} l_ip ).
// The engine computes the sums over all keys and their gradients, for umbral cones with d = 2 in
// O(n log n); the logits of ancestors are single pairs (pair_model.h).
#pragma once

#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/embed/pair_model.h"

namespace conelab {

struct AncestorLoss {
  double loss = 0;
  std::vector<double> query, key;  ///< [n × d] dL/d(point).
  std::vector<double> parameter;   ///< [parameters] dL/d(parameter).
};

/// Returns the loss and its gradients for queries and keys of the same nodes, which may be the same
/// object, and places both. `targets` [n] are the nodes that each should attend to besides itself.
[[nodiscard]] AncestorLoss ancestor_loss(const PairModel& model, PlacedTokens& queries,
                                         PlacedTokens& keys, const NodeLists& targets,
                                         const Execution& run);

/// Returns the mean over the queries of `nodes` of the attention on their ancestors and themselves.
/// `closure` [n] are the ancestors of all nodes, whose tokens have been placed.
[[nodiscard]] double mass_on_ancestors(const PairModel& model, const PlacedTokens& queries,
                                       const PlacedTokens& keys, const NodeLists& closure,
                                       std::span<const Node> nodes, const Execution& run = {});

/// Returns whether the sums over all keys take O(n²) for every number of tokens n.
[[nodiscard]] bool sums_all_pairs(const PairModel& model);

}  // namespace conelab
