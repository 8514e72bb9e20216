// The partial order of the tokens of a head: the ancestor relation and its Hasse diagram.
//
// u ≼ v is decided by the law of the cone family (core/geometry/cone_law.h). Equal tokens (equal
// axes and shadows) are one element of the order, which the first of them represents.
#pragma once

#include <cstdint>
#include <vector>

#include "core/geometry/cone_law.h"

namespace conelab::tree {

struct AncestorOrder {
  std::size_t size = 0;  ///< The number n of tokens.
  /// [n × n], row-major: 1 if the token of the row is a proper ancestor of that of the column.
  std::vector<std::uint8_t> ancestor;
  /// [n × n]: 1 for the edges of the Hasse diagram, which is the transitive reduction: the row is
  /// an ancestor of the column, no third token is between them, and both represent their element.
  std::vector<std::uint8_t> cover;
  /// [n] The first of the tokens equal to this one (possibly the token itself).
  std::vector<std::int64_t> representative;

  [[nodiscard]] bool is_ancestor(std::size_t u, std::size_t v) const {
    return ancestor[u * size + v] != 0;
  }
  [[nodiscard]] bool covers(std::size_t u, std::size_t v) const { return cover[u * size + v] != 0; }
};

/// Computes the order in O(n² d + n³/64).
[[nodiscard]] AncestorOrder ancestor_order(geometry::Base base,
                                           const std::vector<geometry::Element>& tokens);

/// Returns the length of the longest chain of ancestors of each element [n]; 0 without ancestors.
[[nodiscard]] std::vector<std::int64_t> levels(const AncestorOrder& order);

}  // namespace conelab::tree
