// A hierarchy: nodes with names, and edges from each node to its parents. A tree gives each node
// but the root one parent; a directed acyclic graph may give it several.
//
// A file stores it as the group /hierarchy: edge [m × 2] (child, parent), name [n], depth [n], id
// [n] where nodes have identifiers besides their names, and feature [n × f] where they have
// features.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/files/labelled_array.h"

namespace conelab {

/// The number of a node, counted from 0.
using Node = std::int64_t;
/// Sorted nodes of each node, [n]: its parents, its children or its ancestors.
using NodeLists = std::vector<std::vector<Node>>;

struct Hierarchy {
  std::vector<std::array<Node, 2>> edges;  ///< [m] (child, parent), in the order of the file.
  std::vector<std::string> names;          ///< [n]
  /// [n] The number of edges on the longest way up to a root, so that a child is deeper than each
  /// of its parents; 0 at roots.
  std::vector<Node> depths = {};
  std::vector<std::string> ids = {};  ///< [n], or empty: nodes have names alone.
  std::vector<double> features = {};  ///< [n × f] Numbers that describe each node; may be empty.

  [[nodiscard]] Node size() const { return static_cast<Node>(names.size()); }
};

/// Returns the hierarchy with these edges, and computes its depths. Throws a failure if an edge
/// leads to a node that does not exist, if an edge appears twice, or if there is a cycle; the
/// message begins with `where` and names the node, or the nodes of the cycle.
[[nodiscard]] Hierarchy make_hierarchy(std::vector<std::array<Node, 2>> edges,
                                       std::vector<std::string> names,
                                       const std::string& where = "hierarchy");

[[nodiscard]] NodeLists parents_of(const Hierarchy& hierarchy);
[[nodiscard]] NodeLists children_of(const Hierarchy& hierarchy);

/// Returns the transitive closure: all ancestors of each node, without the node itself. It takes 8
/// bytes for each pair, of which `closure_size` tells the number before.
[[nodiscard]] NodeLists ancestors_of(const Hierarchy& hierarchy);

/// The size of the transitive closure.
struct ClosureSize {
  std::size_t pairs = 0;      ///< Pairs of a node and its ancestor.
  std::size_t following = 0;  ///< Edges whose parent is an ancestor of another parent of the child.
};
inline constexpr std::size_t most_closure_steps = 300'000'000;  ///< Some seconds.

/// Counts without lists, in O(n + m) memory. A node with one parent has one ancestor more than that
/// parent; for a node with several, its ancestors are visited. Returns nothing if this takes more
/// than `most_steps` edges.
[[nodiscard]] std::optional<ClosureSize> closure_size(const Hierarchy& hierarchy,
                                                      std::size_t most_steps = most_closure_steps);

/// Throws a failure, which begins with `where`, if the closure has too many pairs for lists: more
/// than 100 million, which take 800 MB, or more than can be counted.
void check_closure_fits(const Hierarchy& hierarchy, const std::string& where);

/// Returns the hierarchy without the edges that follow from others. It makes no lists of ancestors.
[[nodiscard]] Hierarchy reduced(const Hierarchy& hierarchy);

/// Returns at least `count` nodes, drawn one after the other with all of their ancestors, as long
/// as they are fewer than that, with the edges between them; all nodes if there are no more. Nodes
/// keep their order. The relation of a node that is kept to its ancestors is the same as before.
[[nodiscard]] Hierarchy sampled(const Hierarchy& hierarchy, Node count, std::uint64_t seed);

/// Returns all nodes in depth-first order: a node comes before its children, and children and roots
/// follow in the order of their numbers. A node with several parents comes after the first of them
/// that is reached.
[[nodiscard]] std::vector<Node> depth_first_order(const Hierarchy& hierarchy);

/// Returns the depth of the lowest common ancestor of two nodes, which may be one of them: the
/// largest depth of all common ancestors. Returns −1 if there is none.
[[nodiscard]] Node depth_of_lca(const Hierarchy& hierarchy, const NodeLists& ancestors, Node a,
                                Node b);

/// Return the content of the group /hierarchy, and the hierarchy of such a group. Depths are
/// computed again, and names may be missing. Throws a failure as make_hierarchy does, and if `edge`
/// does not hold pairs of integers or `feature` finite numbers for each node; messages begin with
/// `where`.
[[nodiscard]] LabelledArray hierarchy_group(const Hierarchy& hierarchy);
[[nodiscard]] Hierarchy hierarchy_of_group(const LabelledArray& group, const std::string& where);

/// Reads the group /hierarchy of an HDF5 file in a child process. Throws a failure if the file has
/// none, and interrupted once `cancelled` returns true.
[[nodiscard]] Hierarchy read_hierarchy(const std::string& path,
                                       const std::function<bool()>& cancelled = {});

}  // namespace conelab
