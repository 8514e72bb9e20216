#include "core/embed/held_out.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/random.h"

namespace conelab {
namespace {

std::size_t at(Node node) { return static_cast<std::size_t>(node); }

/// Removes a share of a list, drawn at random, from its end, and returns it.
template <class T>
std::vector<T> take_share(std::vector<T>& list, double share, Random& random) {
  random.shuffle(list);
  const auto count = std::llround(share * static_cast<double>(list.size()));
  const auto first = list.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<T> taken(first, list.end());
  list.erase(first, list.end());
  return taken;
}

}  // namespace

HeldOut hold_out(const Hierarchy& hierarchy, const NodeLists& closure, double share,
                 double node_share, std::uint64_t seed) {
  HeldOut out{closure, NodeLists(closure.size()), {}, {}, {}, {}};
  Random random(seed);
  const std::set<std::array<Node, 2>> edges(hierarchy.edges.begin(), hierarchy.edges.end());
  const NodeLists children = children_of(hierarchy);
  std::vector<Node> leaves;
  for (Node u = 0; u < hierarchy.size(); ++u) {
    (children[at(u)].empty() && !closure[at(u)].empty() ? leaves : out.seen).push_back(u);
  }
  if (node_share > 0) out.unseen = take_share(leaves, node_share, random);
  out.seen.insert(out.seen.end(), leaves.begin(), leaves.end());
  std::ranges::sort(out.seen);
  std::ranges::sort(out.unseen);
  for (const Node u : out.unseen) out.trained[at(u)].clear();
  NodePairs further;
  for (const Node u : out.seen) {
    for (const Node v : closure[at(u)]) {
      if (!edges.contains({u, v})) further.push_back({u, v});
    }
  }
  out.pairs = take_share(further, share, random);
  for (const auto& edge : hierarchy.edges) {
    if (!std::ranges::binary_search(out.unseen, edge[0])) out.trained_pairs.push_back(edge);
  }
  out.trained_pairs.insert(out.trained_pairs.end(), further.begin(), further.end());
  for (const auto& [u, v] : out.pairs) {
    std::erase(out.trained[at(u)], v);
    out.held[at(u)].push_back(v);
  }
  for (std::vector<Node>& list : out.held) std::ranges::sort(list);
  return out;
}

}  // namespace conelab
