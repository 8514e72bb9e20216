#include <gtest/gtest.h>

#include "core/tree/merge.h"

namespace conelab::tree {
namespace {

/// ((0 1) 2) (3 4): depths that merge in this order.
Dendrogram five_tokens() {
  const double depth[5][5] = {
      {9, 8, 6, 1, 1}, {8, 9, 6, 1, 1}, {6, 6, 9, 1, 1}, {1, 1, 1, 9, 7}, {1, 1, 1, 7, 9}};
  return merge_by_depth({&depth[0][0], &depth[0][0] + 25}, 5);
}

TEST(Clusters, OfADendrogramAreItsMergesWithoutTheLast) {
  EXPECT_EQ(clusters_of(five_tokens()), (std::set<Cluster>{{0, 1}, {0, 1, 2}, {3, 4}}));
}

TEST(Clusters, AreMatchedAsByHand) {
  // Of the tree's clusters {0 1 2} and {2 3} count; sets of one token and of all do not.
  const ClusterMatch match =
      match_clusters({{0, 1, 2}, {2, 3}, {4}, {0, 1, 2, 3, 4}}, five_tokens());
  EXPECT_DOUBLE_EQ(match.f1, 2 * 1 / 5.0);
  EXPECT_DOUBLE_EQ(match.most_f1, 2 * 2 / 5.0);
}

TEST(Clusters, OfItsOwnTreeMatchWhollyAndOfNoneToo) {
  EXPECT_EQ(match_clusters(clusters_of(five_tokens()), five_tokens()).f1, 1);
  EXPECT_EQ(match_clusters({}, merge_by_depth({1, 1, 1, 1}, 2)).f1, 1);
}

}  // namespace
}  // namespace conelab::tree
