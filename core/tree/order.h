// The tokens of a head as a partial order: who is whose ancestor, and the Hasse diagram.
//
// u ≼ v by the law of the cone family (core/geometry/cone_law.h). Tokens at one place (equal axes
// and shadows) are one element of the order; the first of them represents it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/geometry/cone_law.h"

namespace conelab::tree {

struct AncestorOrder {
  std::size_t size = 0;  ///< n tokens.
  /// [n × n], row-major: 1 where the row's token is a proper ancestor of the column's.
  std::vector<std::uint8_t> ancestor;
  /// [n × n]: 1 where moreover nothing stands between the two and both represent their places: the
  /// edges of the Hasse diagram, the transitive reduction.
  std::vector<std::uint8_t> cover;
  /// [n]: the first token at the same place, the token itself where it is the first.
  std::vector<std::int64_t> representative;

  [[nodiscard]] bool is_ancestor(std::size_t u, std::size_t v) const {
    return ancestor[u * size + v] != 0;
  }
  [[nodiscard]] bool covers(std::size_t u, std::size_t v) const { return cover[u * size + v] != 0; }
};

/// O(n² d + n³/64).
[[nodiscard]] AncestorOrder ancestor_order(geometry::Base base,
                                           const std::vector<geometry::Element>& tokens);

/// The transitive reduction of a strict partial order [n × n]; of a relation that rounding made
/// not quite transitive, the pairs with nothing between them.
[[nodiscard]] std::vector<std::uint8_t> transitive_reduction(
    const std::vector<std::uint8_t>& strict_order, std::size_t n);

/// The longest chain above each element: 0 for elements without ancestors [n].
[[nodiscard]] std::vector<std::int64_t> levels(const AncestorOrder& order);

}  // namespace conelab::tree
