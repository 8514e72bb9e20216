// The trees of an attention head: what `conelab tree` computes and the desktop draws.
//
// For the tokens of one head (its keys or its queries, mapped as the call says) this computes the
// depths of the lowest common ancestors of all pairs, the ancestor relation with its Hasse diagram,
// and the dendrogram by depth. For the attention of the head it computes how much of it crosses
// each boundary between adjacent tokens. A similarity that is no cone family has no ancestors; its
// logit replaces the depth.
//
// A token is undefined if its numbers are not finite or if it is padding: the mask `padding`
// excludes it, or under the input's own mask no query sees it, nor it any key. Its depths are NaN;
// it has no ancestors, descendants and common ancestors; and it merges last, at depth NaN. Padding
// neither gives nor receives attention.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/operators/operator.h"
#include "core/tree/merge.h"
#include "core/tree/order.h"
#include "core/tree/segmentation.h"

namespace conelab::tree {

/// The tensor whose tokens form the tree.
enum class Tokens { key, query };
/// Returns the tensor of the name "key" or "query". Throws misuse for another name.
[[nodiscard]] Tokens tokens_from_name(const std::string& name);

/// The trees of one head of one batch element, with n tokens.
struct HeadTree {
  std::size_t size = 0;
  std::size_t padding = 0;  ///< How many tokens are padding. Files do not store it.
  /// [n × n] Depths of the lowest common ancestors at γ = 1: −height for an infinite source, ρ for
  /// a finite one, and the extension of the family if there is no ancestor. If the similarity is no
  /// cone family: its logits. NaN for pairs with an undefined token.
  std::vector<double> depth;
  bool heights = false;  ///< Whether depths are negative heights (families with infinite source).
  /// [n × n] 1 if a common ancestor exists. Empty if the similarity is no cone family.
  std::vector<std::uint8_t> common;
  /// The ancestor relation of the tokens. Absent if the similarity is no cone family.
  std::optional<AncestorOrder> order;
  Dendrogram dendrogram;
  /// The tokens as points of the family's model. Absent if the similarity is no cone family.
  std::optional<HeadElements> placed;
  /// [n − 1] A common ancestor of the tokens of each merge (merge.h). Empty if there is no family.
  std::vector<std::optional<geometry::Element>> ancestors;
  /// The segmentation by the attention weights. Absent if there are not as many queries as keys.
  std::optional<Segmentation> segmentation;

  /// Returns whether token i is undefined (see above): its own depth is NaN.
  [[nodiscard]] bool undefined(std::size_t i) const { return std::isnan(depth[i * size + i]); }
  [[nodiscard]] std::size_t undefined_count() const;
};

/// Computes the trees of all heads, [batch × head], row-major. `call` is the one whose weights are
/// segmented. Its map and similarity determine the tree; its bias and its masks do not affect it,
/// except that they exclude padding. Each head that is being computed needs three n × n arrays of
/// doubles besides the results. Throws misuse for an operator without a similarity, and a failure
/// for a token outside the domain of the cones; the message names tensor and token.
[[nodiscard]] std::vector<HeadTree> head_trees(const PairCall<double>& call,
                                               Tokens tokens = Tokens::key,
                                               const Execution& execution = {});

/// Returns the tokens of one head; nothing for an operator without a similarity or with one that is
/// no cone family.
[[nodiscard]] std::optional<HeadElements> head_elements(const PairCall<double>& call, Tokens tokens,
                                                        std::int64_t batch, std::int64_t head);

}  // namespace conelab::tree
