#include "core/tree/placed.h"

#include <cmath>

namespace conelab::tree {

geometry::Model model_of(const geometry::ConeSystem& system) {
  return system.infinite() ? geometry::Model::halfspace : geometry::Model::ball;
}

std::vector<std::optional<geometry::Element>> merge_ancestors(const HeadElements& tokens,
                                                              const Dendrogram& dendrogram) {
  std::vector<std::optional<geometry::Element>> clusters;
  for (const geometry::Element& token : tokens.elements) {
    clusters.push_back(std::isnan(token.shadow) ? std::nullopt : std::optional(token));
  }
  for (const Merge& merge : dendrogram.merges) {
    const auto& left = clusters[static_cast<std::size_t>(merge.left)];
    const auto& right = clusters[static_cast<std::size_t>(merge.right)];
    std::optional<geometry::Element> found;
    if (left && right) found = geometry::lca(tokens.system, *left, *right).place;
    clusters.push_back(std::move(found));
  }
  return {clusters.begin() + static_cast<std::ptrdiff_t>(tokens.elements.size()), clusters.end()};
}

}  // namespace conelab::tree
