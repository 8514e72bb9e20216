#include "core/dataset/hierarchy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/random.h"
#include "core/base/utf8.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

std::size_t at(Node node) { return static_cast<std::size_t>(node); }

/// The sorted other ends of the edges of all nodes, one node after the other. `side` is the end
/// that is the node itself: 0 for its parents, 1 for its children.
class NodeLinks {
 public:
  NodeLinks(const Hierarchy& hierarchy, std::size_t side)
      : begin_(hierarchy.names.size() + 1), ends_(hierarchy.edges.size()) {
    for (const auto& edge : hierarchy.edges) ++begin_[at(edge[side]) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& edge : hierarchy.edges) ends_[next[at(edge[side])]++] = edge[1 - side];
    for (std::size_t i = 0; i + 1 < begin_.size(); ++i) {
      std::sort(ends_.begin() + offset(begin_[i]), ends_.begin() + offset(begin_[i + 1]));
    }
  }

  [[nodiscard]] std::span<const Node> of(Node node) const {
    return std::span(ends_).subspan(begin_[at(node)], begin_[at(node) + 1] - begin_[at(node)]);
  }
  [[nodiscard]] NodeLists lists() const {
    NodeLists all(begin_.size() - 1);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto own = of(static_cast<Node>(i));
      all[i].assign(own.begin(), own.end());
    }
    return all;
  }

 private:
  static std::ptrdiff_t offset(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

  std::vector<std::size_t> begin_;
  std::vector<Node> ends_;
};

void check_edges(const Hierarchy& hierarchy, const std::string& where) {
  for (const auto& edge : hierarchy.edges) {
    for (const Node node : edge) {
      if (node < 0 || node >= hierarchy.size()) {
        fail("{}: wrong edge (expected nodes 0 to {}, found {})", where, hierarchy.size() - 1,
             node);
      }
    }
  }
  auto sorted = hierarchy.edges;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return;
  fail("{}: the edge from {} to {} appears twice", where, (*twice)[0], (*twice)[1]);
}

/// Returns the nodes such that every parent comes before its children. Nodes of a cycle, and those
/// below one, are missing.
std::vector<Node> parents_first(const Hierarchy& hierarchy, const NodeLinks& children) {
  std::vector<Node> waiting(hierarchy.names.size()), order;
  for (const auto& edge : hierarchy.edges) ++waiting[at(edge[0])];
  for (Node node = 0; node < hierarchy.size(); ++node) {
    if (waiting[at(node)] == 0) order.push_back(node);
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    for (const Node child : children.of(order[done])) {
      if (--waiting[at(child)] == 0) order.push_back(child);
    }
  }
  return order;
}

std::string shown_name(const Hierarchy& hierarchy, Node node) {
  constexpr std::size_t longest = 40;
  return "'" + printable(hierarchy.names[at(node)], longest) + "'";
}

/// Throws a failure that names the nodes of a cycle, given the nodes that lie on none and below
/// none. Each other node has a parent of the same kind, so that a way up ends in a cycle.
[[noreturn]] void fail_with_cycle(const Hierarchy& hierarchy, const std::vector<Node>& sound,
                                  const std::string& where) {
  constexpr std::size_t most_shown = 8;
  std::vector<bool> is_sound(hierarchy.names.size());
  for (const Node node : sound) is_sound[at(node)] = true;
  std::vector<Node> above(hierarchy.names.size(), -1), way;
  for (const auto& [child, parent] : hierarchy.edges) {
    if (!is_sound[at(parent)]) above[at(child)] = parent;
  }
  std::vector<bool> visited(hierarchy.names.size());
  Node node = std::ranges::find(is_sound, false) - is_sound.begin();
  for (; !visited[at(node)]; node = above[at(node)]) {
    visited[at(node)] = true;
    way.push_back(node);
  }
  way.erase(way.begin(), std::ranges::find(way, node));
  std::string text;
  for (std::size_t i = 0; i < std::min(way.size(), most_shown); ++i) {
    text += shown_name(hierarchy, way[i]) + " -> ";
  }
  if (way.size() > most_shown) text += "... -> ";
  fail("{}: a cycle of {}: {}{}, each the child of the next (expected a hierarchy)", where,
       counted(way.size(), "node"), text, shown_name(hierarchy, node));
}

/// Walks up from each node in turn, parents first, to count the closure.
class ClosureWalk {
 public:
  explicit ClosureWalk(const Hierarchy& hierarchy)
      : order_(parents_first(hierarchy, NodeLinks(hierarchy, 1))),
        parents_(hierarchy, 0),
        visited_by_(hierarchy.names.size(), -1) {}

  /// Calls `follows` with each edge (child, parent) that follows from others. Returns nothing after
  /// `most_steps` edges.
  template <class Follows>
  std::optional<ClosureSize> run(std::size_t most_steps, const Follows& follows) {
    ClosureSize size;
    std::vector<std::size_t> above(visited_by_.size());
    for (const Node node : order_) {
      const auto own = parents_.of(node);
      if (own.size() < 2) {
        above[at(node)] = own.empty() ? 0 : above[at(own.front())] + 1;
      } else {
        above[at(node)] = visit_above(node, own);
        if (steps_ > most_steps) return std::nullopt;
        for (const Node parent : own) {
          const bool visited = visited_by_[at(parent)] == node;
          size.following += visited;
          above[at(node)] += !visited;
          if (visited) follows(node, parent);
        }
      }
      size.pairs += above[at(node)];
    }
    return size;
  }

 private:
  std::vector<Node> order_;
  NodeLinks parents_;
  std::vector<Node> visited_by_;  ///< [n] The last node that the walk to this one began at.
  std::vector<Node> stack_;
  std::size_t steps_ = 0;

  /// Visits all ancestors of a node's parents, and returns their number.
  std::size_t visit_above(Node node, std::span<const Node> own) {
    std::size_t count = 0;
    stack_.assign(own.begin(), own.end());
    while (!stack_.empty()) {
      const auto next = parents_.of(stack_.back());
      stack_.pop_back();
      steps_ += next.size();
      for (const Node ancestor : next) {
        if (visited_by_[at(ancestor)] == node) continue;
        visited_by_[at(ancestor)] = node;
        stack_.push_back(ancestor);
        ++count;
      }
    }
    return count;
  }
};

}  // namespace

Hierarchy make_hierarchy(std::vector<std::array<Node, 2>> edges, std::vector<std::string> names,
                         const std::string& where) {
  Hierarchy made{std::move(edges), std::move(names)};
  check_edges(made, where);
  made.depths.assign(made.names.size(), 0);
  const NodeLinks children(made, 1);
  const std::vector<Node> order = parents_first(made, children);
  for (const Node node : order) {
    for (const Node child : children.of(node)) {
      made.depths[at(child)] = std::max(made.depths[at(child)], made.depths[at(node)] + 1);
    }
  }
  if (order.size() != made.names.size()) fail_with_cycle(made, order, where);
  return made;
}

NodeLists parents_of(const Hierarchy& hierarchy) { return NodeLinks(hierarchy, 0).lists(); }
NodeLists children_of(const Hierarchy& hierarchy) { return NodeLinks(hierarchy, 1).lists(); }

NodeLists ancestors_of(const Hierarchy& hierarchy) {
  const NodeLists parents = parents_of(hierarchy);
  NodeLists closure(hierarchy.names.size());
  for (const Node node : parents_first(hierarchy, NodeLinks(hierarchy, 1))) {
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

std::optional<ClosureSize> closure_size(const Hierarchy& hierarchy, std::size_t most_steps) {
  return ClosureWalk(hierarchy).run(most_steps, [](Node, Node) {});
}

void check_closure_fits(const Hierarchy& hierarchy, const std::string& where) {
  constexpr std::size_t most_pairs = 100'000'000;
  const auto size = closure_size(hierarchy);
  if (size && size->pairs <= most_pairs) return;
  fail(
      "{}: its {} nodes have {} pairs of a node and its ancestor (expected at most {}, whose lists "
      "take 800 MB)",
      where, hierarchy.size(), size ? std::to_string(size->pairs) : "an unknown number of",
      most_pairs);
}

Hierarchy reduced(const Hierarchy& hierarchy) {
  std::vector<std::array<Node, 2>> following;
  (void)ClosureWalk(hierarchy).run(std::numeric_limits<std::size_t>::max(),
                                   [&](Node child, Node parent) {
                                     following.push_back({child, parent});
                                   });
  std::ranges::sort(following);
  Hierarchy result = hierarchy;  // The longest ways up keep their edges, and so do the depths.
  std::erase_if(result.edges,
                [&](const auto& edge) { return std::ranges::binary_search(following, edge); });
  return result;
}

Hierarchy sampled(const Hierarchy& hierarchy, Node count, std::uint64_t seed) {
  if (count >= hierarchy.size()) return hierarchy;
  const NodeLinks parents(hierarchy, 0);
  std::vector<Node> drawn(hierarchy.names.size()), number(hierarchy.names.size(), -1), stack;
  std::iota(drawn.begin(), drawn.end(), 0);
  Random(seed).shuffle(drawn);
  Node kept = 0;
  for (std::size_t i = 0; kept < count; ++i) {
    stack.assign(1, drawn[i]);
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      if (number[at(node)] == 0) continue;
      number[at(node)] = 0;
      ++kept;
      for (const Node parent : parents.of(node)) stack.push_back(parent);
    }
  }
  Hierarchy part;
  for (Node node = 0; node < hierarchy.size(); ++node) {
    if (number[at(node)] < 0) continue;
    number[at(node)] = part.size();
    part.names.push_back(hierarchy.names[at(node)]);
    part.depths.push_back(hierarchy.depths[at(node)]);
    if (!hierarchy.ids.empty()) part.ids.push_back(hierarchy.ids[at(node)]);
  }
  for (const auto& [child, parent] : hierarchy.edges) {
    if (number[at(child)] >= 0) part.edges.push_back({number[at(child)], number[at(parent)]});
  }
  return part;
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
                {"end", std::vector<std::string>{"child", "parent"}}};
  std::vector<std::int64_t> edges;
  for (const auto& edge : hierarchy.edges) edges.insert(edges.end(), edge.begin(), edge.end());
  group.variables = {{"edge", {"link", "end"}, edges, "", {{"long_name", "child and parent"}}},
                     {"name", {"node"}, hierarchy.names},
                     {"depth", {"node"}, hierarchy.depths, "", {{"long_name", "0 at roots"}}}};
  if (!hierarchy.ids.empty()) group.add("id", {"node"}, hierarchy.ids);
  if (!hierarchy.features.empty()) {
    group.axes.push_back(
        counted_axis("column", hierarchy.features.size() / hierarchy.names.size()));
    group.add("feature", {"node", "column"}, hierarchy.features);
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
    Hierarchy made = make_hierarchy(std::move(edges), *names, where);
    const auto* ids = group.data<std::string>("id");
    if (ids != nullptr && ids->size() == names->size()) made.ids = *ids;
    return made;
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
