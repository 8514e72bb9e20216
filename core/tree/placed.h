// The tokens of a head as points of the model of its cone family, and the common ancestors of the
// clusters of its dendrogram.
#pragma once

#include <optional>
#include <vector>

#include "core/geometry/cone_law.h"
#include "core/tree/merge.h"

namespace conelab::tree {

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

}  // namespace conelab::tree
