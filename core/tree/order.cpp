#include "core/tree/order.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <numeric>

namespace conelab::tree {
namespace {

using geometry::Relation;

/// Returns the transitive reduction of a strict partial order [n × n]. If rounding has made the
/// relation not quite transitive, it returns the pairs without a third element between them.
std::vector<std::uint8_t> transitive_reduction(const std::vector<std::uint8_t>& strict_order,
                                               std::size_t n) {
  std::vector<boost::dynamic_bitset<>> below(n, boost::dynamic_bitset<>(n)), above = below;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (!strict_order[i * n + j]) continue;
      below[i].set(j);
      above[j].set(i);
    }
  }
  std::vector<std::uint8_t> cover(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      cover[i * n + j] = strict_order[i * n + j] && !below[i].intersects(above[j]);
    }
  }
  return cover;
}

}  // namespace

AncestorOrder ancestor_order(geometry::Base base, const std::vector<geometry::Element>& tokens) {
  const std::size_t n = tokens.size();
  AncestorOrder order{n, std::vector<std::uint8_t>(n * n), {}, std::vector<std::int64_t>(n)};
  std::iota(order.representative.begin(), order.representative.end(), 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const Relation found = geometry::relation(base, tokens[i], tokens[j]);
      order.ancestor[i * n + j] = found == Relation::u_is_ancestor;
      order.ancestor[j * n + i] = found == Relation::v_is_ancestor;
      if (found == Relation::equal) {
        order.representative[j] = std::min(order.representative[j], order.representative[i]);
      }
    }
  }
  order.cover = transitive_reduction(order.ancestor, n);
  for (std::size_t i = 0; i < n; ++i) {
    if (order.representative[i] == static_cast<std::int64_t>(i)) continue;
    for (std::size_t j = 0; j < n; ++j) order.cover[i * n + j] = order.cover[j * n + i] = 0;
  }
  return order;
}

std::vector<std::int64_t> levels(const AncestorOrder& order) {
  const std::size_t n = order.size;
  // Sorted by the number of ancestors, every ancestor comes before its descendants.
  std::vector<std::size_t> count(n), by_count(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) count[j] += order.ancestor[i * n + j];
  }
  std::iota(by_count.begin(), by_count.end(), std::size_t{0});
  std::ranges::stable_sort(by_count,
                           [&](std::size_t a, std::size_t b) { return count[a] < count[b]; });
  std::vector<std::int64_t> level(n);
  for (const std::size_t j : by_count) {
    for (std::size_t i = 0; i < n; ++i) {
      if (order.is_ancestor(i, j)) level[j] = std::max(level[j], level[i] + 1);
    }
  }
  return level;
}

}  // namespace conelab::tree
