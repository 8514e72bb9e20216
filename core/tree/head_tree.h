// The trees of an attention head: what `conelab tree` computes and the desktop draws.
//
// For the tokens of one head (its keys or its queries, mapped as the call says): pairwise depths of
// lowest common ancestors, the ancestor relation with its Hasse diagram, the dendrogram by depth;
// and for the head's attention, how much of it crosses each boundary between adjacent tokens.
// Similarities that are no cone family have no ancestors: their logit stands for the depth.
//
// A token with numbers that are not finite has no place: its depths are NaN, it is nobody's
// ancestor or descendant and has no common ancestor with anyone, and it merges last, at NaN. Nor
// have the tokens that the mask `padding` calls padding; their attention is nobody's.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/tiles/attention.h"
#include "core/tree/merge.h"
#include "core/tree/order.h"
#include "core/tree/segmentation.h"

namespace conelab::tree {

/// Which tensor's tokens become the tree.
enum class Tokens { key, query };
/// "key", "query"; misuse for another name.
[[nodiscard]] Tokens tokens_from_name(const std::string& name);

/// One head of one batch element; n tokens.
struct HeadTree {
  std::size_t size = 0;
  std::size_t padding = 0;  ///< The last tokens, which are padding. Not kept in files.
  /// [n × n] Depth of the lowest common ancestor at γ = 1: −height for infinite sources, ρ for
  /// finite ones, extended where there is none; the logit where the similarity is no cone family.
  /// NaN with a token that has no place.
  std::vector<double> depth;
  bool heights = false;  ///< Depths are negative heights: a cone family with an infinite source.
  /// [n × n] 1 where a common ancestor exists; empty where the similarity is no cone family.
  std::vector<std::uint8_t> common;
  /// The tokens' ancestor relation; none where the similarity is no cone family.
  std::optional<AncestorOrder> order;
  Dendrogram dendrogram;
  /// Of the attention weights of the call; none where queries and keys differ in number.
  std::optional<Segmentation> segmentation;

  /// Whether the token has no place, is padding for one: its own depth is NaN.
  [[nodiscard]] bool unplaced(std::size_t i) const { return std::isnan(depth[i * size + i]); }
  [[nodiscard]] std::size_t unplaced_count() const;
};

/// [batch × head], row-major. `plan` is the call whose weights are segmented; its map and
/// similarity place the tokens, its bias and masks but `padding` play no part in the tree itself.
/// Needs memory for three n × n arrays of doubles a head that is in work, and the results. Failure,
/// naming tensor and token, for a token outside the cones' domain.
[[nodiscard]] std::vector<HeadTree> head_trees(const Plan& plan,
                                               const AttentionInput<double>& input,
                                               Tokens tokens = Tokens::key,
                                               const Execution& execution = {});

/// The tokens of one head as elements of the cone family, and the family itself; none where the
/// similarity is no cone family. Tokens without a place are NaN throughout.
struct HeadElements {
  geometry::ConeSystem system;
  std::vector<geometry::Element> elements;
};
[[nodiscard]] std::optional<HeadElements> head_elements(const Plan& plan,
                                                        const AttentionInput<double>& input,
                                                        Tokens tokens, std::int64_t batch,
                                                        std::int64_t head);

}  // namespace conelab::tree
