#include "core/dataset/hierarchy.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

std::size_t at(Node node) { return static_cast<std::size_t>(node); }

/// Returns, for each node, the sorted other ends of its edges, where `side` is its own end.
NodeLists neighbours(const Hierarchy& hierarchy, std::size_t side) {
  NodeLists lists(hierarchy.names.size());
  for (const auto& edge : hierarchy.edges) lists[at(edge[side])].push_back(edge[1 - side]);
  for (auto& list : lists) std::ranges::sort(list);
  return lists;
}

void check_edges(const Hierarchy& hierarchy, const std::string& where) {
  std::set<std::array<Node, 2>> seen;
  for (const auto& edge : hierarchy.edges) {
    for (const Node node : edge) {
      if (node < 0 || node >= hierarchy.size()) {
        fail("{}: wrong edge (expected nodes 0 to {}, found {})", where, hierarchy.size() - 1,
             node);
      }
    }
    if (!seen.insert(edge).second) {
      fail("{}: the edge from {} to {} appears twice", where, edge[0], edge[1]);
    }
  }
}

/// Returns the nodes such that every parent comes before its children. Nodes of a cycle, and those
/// below one, are missing.
std::vector<Node> parents_first(const Hierarchy& hierarchy) {
  const NodeLists children = children_of(hierarchy);
  std::vector<Node> waiting(hierarchy.names.size()), order;
  for (const auto& edge : hierarchy.edges) ++waiting[at(edge[0])];
  for (Node node = 0; node < hierarchy.size(); ++node) {
    if (waiting[at(node)] == 0) order.push_back(node);
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    for (const Node child : children[at(order[done])]) {
      if (--waiting[at(child)] == 0) order.push_back(child);
    }
  }
  return order;
}

}  // namespace

Hierarchy make_hierarchy(std::vector<std::array<Node, 2>> edges, std::vector<std::string> names,
                         const std::string& where) {
  Hierarchy made{std::move(edges), std::move(names)};
  check_edges(made, where);
  made.depths.assign(made.names.size(), 0);
  const NodeLists children = children_of(made);
  const std::vector<Node> order = parents_first(made);
  for (const Node node : order) {
    for (const Node child : children[at(node)]) {
      made.depths[at(child)] = std::max(made.depths[at(child)], made.depths[at(node)] + 1);
    }
  }
  if (order.size() == made.names.size()) return made;
  std::vector<bool> placed(made.names.size());
  for (const Node node : order) placed[at(node)] = true;
  const auto lost = std::ranges::find(placed, false) - placed.begin();
  fail("{}: node {} lies on a cycle, or below one (expected a hierarchy)", where, lost);
}

NodeLists parents_of(const Hierarchy& hierarchy) { return neighbours(hierarchy, 0); }
NodeLists children_of(const Hierarchy& hierarchy) { return neighbours(hierarchy, 1); }

NodeLists ancestors_of(const Hierarchy& hierarchy) {
  const NodeLists parents = parents_of(hierarchy);
  NodeLists closure(hierarchy.names.size());
  for (const Node node : parents_first(hierarchy)) {
    std::vector<Node>& own = closure[at(node)];
    own = parents[at(node)];
    for (const Node parent : parents[at(node)]) {
      own.insert(own.end(), closure[at(parent)].begin(), closure[at(parent)].end());
    }
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return closure;
}

Hierarchy reduced(const Hierarchy& hierarchy) {
  const NodeLists parents = parents_of(hierarchy), ancestors = ancestors_of(hierarchy);
  Hierarchy result = hierarchy;  // The longest ways up keep their edges, and so do the depths.
  std::erase_if(result.edges, [&](const auto& edge) {  // Its parent is above another parent.
    return std::ranges::any_of(parents[at(edge[0])], [&](Node other) {
      return std::ranges::binary_search(ancestors[at(other)], edge[1]);
    });
  });
  return result;
}

std::vector<Node> depth_first_order(const Hierarchy& hierarchy) {
  const NodeLists children = children_of(hierarchy);
  std::vector<Node> order, stack;
  for (Node node = hierarchy.size(); node-- > 0;) {
    if (hierarchy.depths[at(node)] == 0) stack.push_back(node);
  }
  std::vector<bool> visited(hierarchy.names.size());
  while (!stack.empty()) {
    const Node node = stack.back();
    stack.pop_back();
    if (visited[at(node)]) continue;
    visited[at(node)] = true;
    order.push_back(node);
    stack.insert(stack.end(), children[at(node)].rbegin(), children[at(node)].rend());
  }
  return order;
}

Node depth_of_lca(const Hierarchy& hierarchy, const NodeLists& ancestors, Node a, Node b) {
  const auto is_ancestor = [&](Node upper, Node lower) {
    const std::vector<Node>& above = ancestors[at(lower)];
    return upper == lower || std::binary_search(above.begin(), above.end(), upper);
  };
  if (is_ancestor(a, b)) return hierarchy.depths[at(a)];
  if (is_ancestor(b, a)) return hierarchy.depths[at(b)];
  Node deepest = -1;
  auto j = ancestors[at(b)].begin();
  for (const Node node : ancestors[at(a)]) {
    while (j != ancestors[at(b)].end() && *j < node) ++j;
    if (j != ancestors[at(b)].end() && *j == node) {
      deepest = std::max(deepest, hierarchy.depths[at(node)]);
    }
  }
  return deepest;
}

LabelledArray hierarchy_group(const Hierarchy& hierarchy) {
  LabelledArray group;
  group.axes = {counted_axis("node", hierarchy.names.size()),
                counted_axis("link", hierarchy.edges.size()),
                {"end", std::vector<std::string>{"child", "parent"}, ""}};
  std::vector<std::int64_t> edges;
  for (const auto& edge : hierarchy.edges) edges.insert(edges.end(), edge.begin(), edge.end());
  group.variables = {{"edge", {"link", "end"}, edges, "", {{"long_name", "child and parent"}}},
                     {"name", {"node"}, hierarchy.names, "", {}},
                     {"depth", {"node"}, hierarchy.depths, "", {{"long_name", "0 at roots"}}}};
  if (!hierarchy.features.empty()) {
    group.axes.push_back(
        counted_axis("column", hierarchy.features.size() / hierarchy.names.size()));
    group.variables.push_back({"feature", {"node", "column"}, hierarchy.features, "", {}});
  }
  group.signal = "depth";
  return group;
}

namespace {

/// Returns the features [n × f] of a group, or none.
std::vector<double> features_of_group(const LabelledArray& group, std::size_t nodes,
                                      const std::string& where) {
  if (group.variable("feature") == nullptr) return {};
  std::vector<double> features;
  if (const auto* wide = group.data<double>("feature")) features = *wide;
  if (const auto* narrow = group.data<float>("feature")) {
    features.assign(narrow->begin(), narrow->end());
  }
  const std::vector<std::string>& axes = group.variable("feature")->axes;
  // The axes of arrays that other programs wrote are unknown.
  const LabelledAxis* rows = axes.empty() ? nullptr : find_named(group.axes, axes.front());
  const bool other = rows != nullptr && rows->size() != nodes;
  if (features.empty() || axes.size() != 2 || other || features.size() % nodes != 0) {
    fail("{}: feature is no array [{} × f] of floating-point numbers", where, nodes);
  }
  for (const double x : features) {
    if (!std::isfinite(x)) fail("{}: feature holds numbers that are not finite", where);
  }
  return features;
}

Hierarchy edges_of_group(const LabelledArray& group, const std::string& where) {
  const auto* ends = group.data<std::int64_t>("edge");
  if (ends == nullptr || group.variable("edge")->axes.size() != 2 || ends->size() % 2 != 0) {
    fail("{}: no array edge [m × 2] of integers (child, parent)", where);
  }
  std::vector<std::array<Node, 2>> edges(ends->size() / 2);
  for (std::size_t i = 0; i < ends->size(); ++i) edges[i / 2][i % 2] = (*ends)[i];
  if (const auto* names = group.data<std::string>("name")) {
    return make_hierarchy(std::move(edges), *names, where);
  }
  const Node last = ends->empty() ? -1 : *std::ranges::max_element(*ends);
  if (last >= static_cast<Node>(2 * edges.size())) {
    fail("{}: edge names node {}, but there are {} edges and no names", where, last, edges.size());
  }
  std::vector<std::string> names;
  for (Node node = 0; node <= last; ++node) names.push_back(std::to_string(node));
  return make_hierarchy(std::move(edges), std::move(names), where);
}

}  // namespace

Hierarchy hierarchy_of_group(const LabelledArray& group, const std::string& where) {
  Hierarchy hierarchy = edges_of_group(group, where);
  hierarchy.features = features_of_group(group, hierarchy.names.size(), where);
  return hierarchy;
}

Hierarchy read_hierarchy(const std::string& path, const std::function<bool()>& cancelled) {
  const auto group = find_labelled_sandboxed(path, "hierarchy", {.cancelled = cancelled});
  if (!group) fail("{}: has no group /hierarchy (expected a data set with a hierarchy)", path);
  return hierarchy_of_group(*group, path + ": /hierarchy");
}

}  // namespace conelab
