#include "core/tree/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/geometry/cone_law.h"
#include "tests/core/geometry/sampling.h"

namespace conelab::tree {
namespace {

using geometry::test::Sampler;
using geometry::test::vec;

/// Complete linkage by searching all pairs of clusters and all pairs of their members each time.
std::vector<Merge> naive(const std::vector<double>& depth, std::size_t n) {
  struct Cluster {
    std::int64_t id;
    std::vector<std::size_t> members;
  };
  std::vector<Cluster> clusters;
  for (std::size_t i = 0; i < n; ++i) clusters.push_back({static_cast<std::int64_t>(i), {i}});
  std::vector<Merge> merges;
  while (clusters.size() > 1) {
    std::size_t a = 0, b = 0;
    double best = -HUGE_VAL;
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      for (std::size_t j = i + 1; j < clusters.size(); ++j) {
        double least = HUGE_VAL;
        for (const std::size_t x : clusters[i].members) {
          for (const std::size_t y : clusters[j].members) least = std::min(least, depth[x * n + y]);
        }
        if (b == 0 || least > best) best = least, a = i, b = j;
      }
    }
    Cluster joined{static_cast<std::int64_t>(n + merges.size()), clusters[a].members};
    joined.members.insert(joined.members.end(), clusters[b].members.begin(),
                          clusters[b].members.end());
    merges.push_back(
        {clusters[a].id, clusters[b].id, best, static_cast<std::int64_t>(joined.members.size())});
    clusters[a] = joined;
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(b));
  }
  return merges;
}

std::vector<double> random_depths(std::size_t n, unsigned seed, int levels) {
  Sampler sampler(seed);
  std::vector<double> depth(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i; j < n; ++j) {
      depth[i * n + j] = depth[j * n + i] =
          levels == 0 ? sampler.uniform(-1, 0) : std::floor(sampler.uniform(0, levels));
    }
  }
  return depth;
}

TEST(Merge, EqualsTheNaiveSearchAlsoWithTies) {
  for (const int levels : {0, 3}) {
    for (const std::size_t n : {0u, 1u, 2u, 3u, 17u, 40u}) {
      const std::vector<double> depth = random_depths(n, 4, levels);
      const Dendrogram found = merge_by_depth(depth, n);
      const std::vector<Merge> expected = naive(depth, n);
      ASSERT_EQ(found.merges.size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(found.merges[k].left, expected[k].left) << n << " merge " << k;
        EXPECT_EQ(found.merges[k].right, expected[k].right);
        EXPECT_EQ(found.merges[k].depth, expected[k].depth);
        EXPECT_EQ(found.merges[k].size, expected[k].size);
        EXPECT_TRUE(k == 0 || found.merges[k].depth <= found.merges[k - 1].depth);
      }
    }
  }
}

TEST(Merge, LeafOrderIsAPermutationWithContiguousClusters) {
  const std::size_t n = 30;
  const Dendrogram found = merge_by_depth(random_depths(n, 5, 0), n);
  std::vector<std::int64_t> sorted = found.leaf_order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::int64_t> all(n);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  const Merge& first = found.merges.front();
  const auto left = std::find(found.leaf_order.begin(), found.leaf_order.end(), first.left);
  EXPECT_EQ(*(left + 1), first.right);
}

TEST(Merge, MergesUnknownDepthsLastBelowMinusInfinity) {
  const double nan = std::nan("");
  const Dendrogram found = merge_by_depth({0, nan, -5, nan, 0, -3, -5, -3, 0}, 3);
  EXPECT_EQ(found.merges[0].left, 1);
  EXPECT_EQ(found.merges[0].right, 2);
  EXPECT_TRUE(std::isnan(found.merges[1].depth));

  const double none = -HUGE_VAL;  // Token 0 is unknown; 3 is far from 1 and 2, but known.
  const Dendrogram four = merge_by_depth(
      {nan, nan, nan, nan, nan, 0, -2, none, nan, -2, 0, none, nan, none, none, 0}, 4);
  EXPECT_EQ(four.merges[0].depth, -2);
  EXPECT_EQ(four.merges[1].depth, none);
  EXPECT_EQ(four.merges[1].right, 3);
  EXPECT_EQ(four.merges[2].left, 0);
  EXPECT_TRUE(std::isnan(four.merges[2].depth));
}

// In the plane shadows are intervals, so the smallest interval over a cluster is its LCA's shadow.
TEST(Merge, DepthInThePlaneIsThatOfTheCommonAncestorOfTheWholeCluster) {
  const auto system = geometry::cone_system("umbral", {{"radius", 0.4}});
  Sampler sampler(6);
  const std::size_t n = 25;
  std::vector<geometry::Element> tokens;
  for (std::size_t i = 0; i < n; ++i) {
    tokens.push_back(
        geometry::element_at(system, vec({sampler.uniform(-3, 3)}), sampler.uniform(0.1, 1)));
  }
  std::vector<double> depth(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      depth[i * n + j] = geometry::lca(system, tokens[i], tokens[j]).depth;
  }
  std::vector<std::pair<double, double>> span;
  for (const auto& t : tokens) span.emplace_back(t.axis[0] - t.shadow, t.axis[0] + t.shadow);
  for (const Merge& merge : merge_by_depth(depth, n).merges) {
    const auto a = span[static_cast<std::size_t>(merge.left)],
               b = span[static_cast<std::size_t>(merge.right)];
    span.emplace_back(std::min(a.first, b.first), std::max(a.second, b.second));
    const double shadow = (span.back().second - span.back().first) / 2;
    EXPECT_NEAR(merge.depth, -shadow / std::sinh(0.4), 1e-12);
  }
}

}  // namespace
}  // namespace conelab::tree
