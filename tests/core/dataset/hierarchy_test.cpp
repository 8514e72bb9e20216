#include "core/dataset/hierarchy.h"

#include <gmock/gmock.h>

#include <set>

#include "core/base/random.h"
#include "core/files/bench_file.h"
#include "tests/core/files/fixture.h"

namespace conelab {
namespace {

using fixtures::message_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns a tree of six nodes whose numbers do not follow its order:
///   4 ─ 2 ─ 0
///   │   └── 5
///   └── 1 ─ 3
Hierarchy small_tree() {
  return make_hierarchy({{0, 2}, {2, 4}, {3, 1}, {5, 2}, {1, 4}}, {"a", "b", "c", "d", "e", "f"});
}

/// Returns 0 above 1 and 2, both above 3, and 4 alone; the edge from 3 to 0 follows from others.
Hierarchy diamond() {
  return make_hierarchy({{1, 0}, {2, 0}, {3, 1}, {3, 2}, {3, 0}}, {"a", "b", "c", "d", "e"});
}

TEST(Hierarchy, KnowsDepthsAndAncestors) {
  const Hierarchy tree = small_tree();
  EXPECT_THAT(tree.depths, ElementsAre(2, 1, 1, 2, 0, 2));
  EXPECT_THAT(ancestors_of(tree), ElementsAre(ElementsAre(2, 4), ElementsAre(4), ElementsAre(4),
                                              ElementsAre(1, 4), IsEmpty(), ElementsAre(2, 4)));
  EXPECT_THAT(depth_first_order(tree), ElementsAre(4, 1, 3, 2, 0, 5));
  EXPECT_EQ(reduced(tree).edges, tree.edges);
}

TEST(Hierarchy, KnowsTheDepthOfLowestCommonAncestors) {
  const Hierarchy tree = small_tree();
  const NodeLists above = ancestors_of(tree);
  EXPECT_EQ(depth_of_lca(tree, above, 0, 5), 1);
  EXPECT_EQ(depth_of_lca(tree, above, 0, 3), 0);
  EXPECT_EQ(depth_of_lca(tree, above, 2, 5), 1);
  EXPECT_EQ(depth_of_lca(tree, above, 5, 5), 2);
  const Hierarchy graph = diamond();
  EXPECT_EQ(depth_of_lca(graph, ancestors_of(graph), 1, 2), 0);
  EXPECT_EQ(depth_of_lca(graph, ancestors_of(graph), 3, 2), 1);
  EXPECT_EQ(depth_of_lca(graph, ancestors_of(graph), 3, 4), -1);
}

TEST(Hierarchy, TakesNodesWithSeveralParents) {
  const Hierarchy graph = diamond();
  EXPECT_THAT(graph.depths, ElementsAre(0, 1, 1, 2, 0));
  EXPECT_THAT(ancestors_of(graph)[3], ElementsAre(0, 1, 2));
  EXPECT_THAT(depth_first_order(graph), ElementsAre(0, 1, 3, 2, 4));
  const Hierarchy less = reduced(graph);
  EXPECT_EQ(less.edges.size(), 4u);
  EXPECT_EQ(reduced(less).edges, less.edges);
  EXPECT_EQ(ancestors_of(less), ancestors_of(graph));
}

TEST(Hierarchy, RefusesCyclesAndWrongEdges) {
  EXPECT_THAT(message_of([] {
                (void)make_hierarchy({{1, 0}, {1, 2}, {2, 1}}, {"a", "b", "c"});
              }),
              HasSubstr("a cycle of 2 nodes: 'b' -> 'c' -> 'b'"));
  EXPECT_THAT(message_of([] { (void)make_hierarchy({{0, 0}}, {"a"}); }), HasSubstr("cycle"));
  EXPECT_THAT(message_of([] {
                (void)make_hierarchy({{0, 3}}, {"a", "b"});
              }),
              HasSubstr("expected nodes 0 to 1, found 3"));
  EXPECT_THAT(message_of([] {
                (void)make_hierarchy({{1, 0}, {1, 0}}, {"a", "b"});
              }),
              HasSubstr("twice"));
}

/// Returns n nodes, each with up to four parents among those before it.
Hierarchy random_graph(Node n, std::uint64_t seed) {
  Random random(seed);
  std::set<std::array<Node, 2>> edges;
  for (Node node = 1; node < n; ++node) {
    for (std::uint64_t i = random.below(5); i > 0; --i) {
      edges.insert({node, static_cast<Node>(random.below(static_cast<std::uint64_t>(node)))});
    }
  }
  return make_hierarchy({edges.begin(), edges.end()},
                        std::vector<std::string>(static_cast<std::size_t>(n)));
}

TEST(Hierarchy, CountsPairsAndEdgesThatFollow) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Hierarchy graph = random_graph(40, seed);
    const NodeLists above = ancestors_of(graph), parents = parents_of(graph);
    std::size_t pairs = 0, following = 0;
    for (const auto& list : above) pairs += list.size();
    for (const auto& [child, parent] : graph.edges) {
      const auto& own = parents[static_cast<std::size_t>(child)];
      following += std::ranges::any_of(own, [&, parent = parent](Node other) {
        const auto& list = above[static_cast<std::size_t>(other)];
        return std::ranges::find(list, parent) != list.end();
      });
    }
    const auto size = closure_size(graph);
    ASSERT_TRUE(size);
    EXPECT_EQ(size->pairs, pairs);
    EXPECT_EQ(size->following, following);
    const Hierarchy less = reduced(graph);
    EXPECT_EQ(less.edges.size(), graph.edges.size() - following);
    EXPECT_EQ(ancestors_of(less), above);
    EXPECT_EQ(closure_size(less)->following, 0u);
  }
}

// As lists, these pairs would take 4 TB.
TEST(Hierarchy, CountsTheClosureOfALongChain) {
  constexpr Node n = 1'000'000;
  std::vector<std::array<Node, 2>> edges;
  for (Node node = 1; node < n; ++node) edges.push_back({node, node - 1});
  const Hierarchy chain = make_hierarchy(edges, std::vector<std::string>(n));
  EXPECT_EQ(closure_size(chain)->pairs, static_cast<std::size_t>(n * (n - 1) / 2));
  EXPECT_EQ(chain.depths.back(), n - 1);
  EXPECT_THAT(message_of([&] { check_closure_fits(chain, "f"); }),
              HasSubstr("f: its 1000000 nodes have 499999500000 pairs"));
}

TEST(Hierarchy, StopsCountingAtItsLimit) {
  const Hierarchy graph = random_graph(400, 1);
  EXPECT_FALSE(closure_size(graph, 100));
  EXPECT_TRUE(closure_size(small_tree(), 0));  // Trees need no walk.
}

class HierarchyFile : public fixtures::FilesTest {};

TEST_F(HierarchyFile, GivesBackWhatWasWritten) {
  for (const Hierarchy& written : {small_tree(), diamond(), make_hierarchy({}, {"a"})}) {
    write_labelled(path("h.h5"), {"test", {{"hierarchy", hierarchy_group(written)}}, {}});
    const Hierarchy read = read_hierarchy(path("h.h5"));
    EXPECT_EQ(read.edges, written.edges);
    EXPECT_EQ(read.names, written.names);
    EXPECT_EQ(read.depths, written.depths);
  }
}

TEST_F(HierarchyFile, NumbersNodesWithoutNames) {
  LabelledArray group = hierarchy_group(small_tree());
  std::erase_if(group.variables, [](const LabelledVariable& v) { return v.name == "name"; });
  EXPECT_THAT(hierarchy_of_group(group, "f").names, ElementsAre("0", "1", "2", "3", "4", "5"));
  group.variables.front().data = std::vector<std::int64_t>{0, std::int64_t{1} << 40};
  EXPECT_THAT(message_of([&] { (void)hierarchy_of_group(group, "f"); }), HasSubstr("no names"));
}

TEST_F(HierarchyFile, NamesWhatIsMissing) {
  write_labelled(path("q.h5"), {"test", {{"graph", hierarchy_group(small_tree())}}, {}});
  EXPECT_THAT(message_of([&] { (void)read_hierarchy(path("q.h5")); }),
              HasSubstr("has no group /hierarchy"));
  EXPECT_THAT(message_of([] { (void)hierarchy_of_group({}, "f: /hierarchy"); }),
              HasSubstr("f: /hierarchy: no array edge [m × 2]"));
}

}  // namespace
}  // namespace conelab
