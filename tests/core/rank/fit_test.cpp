#include "core/rank/fit.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"

namespace conelab::rank {
namespace {

Hierarchy hierarchy_of(std::vector<std::array<Node, 2>> edges, std::size_t nodes) {
  return make_hierarchy(std::move(edges), std::vector<std::string>(nodes));
}
/// A root with two children, of which the first, node 2, has a child.
Hierarchy small_tree() { return hierarchy_of({{2, 0}, {1, 0}, {3, 2}}, 4); }

TEST(SignMatrix, OfATreeInDepthFirstOrder) {
  // Depth-first: 0, 1, 2, 3.
  Matrix expected(4, 4);
  expected << 1, 1, 1, 1,  //
      -1, 1, -1, -1,       //
      -1, -1, 1, 1,        //
      -1, -1, -1, 1;
  EXPECT_EQ(sign_matrix(small_tree()), expected);
  EXPECT_EQ(sign_changes(expected), 2);
}

TEST(SignMatrix, SignChangesOfTreesAreAtMostTwoAndOfOthersMore) {
  std::vector<std::array<Node, 2>> edges;
  for (Node child = 1; child < 60; ++child) edges.push_back({child, child * 7 % 5 % child});
  EXPECT_LE(sign_changes(sign_matrix(hierarchy_of(edges, 60))), 2);
  // Two roots: 0 above 2, 3, 4, 5, and 1 above 3 and 5. Depth-first: 0, 2, 3, 4, 5, 1, so that the
  // row of 1 is - - + - + +.
  const Hierarchy shared = hierarchy_of({{2, 0}, {3, 0}, {4, 0}, {5, 0}, {3, 1}, {5, 1}}, 6);
  EXPECT_EQ(sign_changes(sign_matrix(shared)), 3);
  EXPECT_EQ(sign_changes(sign_matrix(hierarchy_of({}, 1))), 0);
}

TEST(LeastMargin, FollowsFromTheLogits) {
  Eigen::ArrayXd signs(5), logits(5);
  signs << 1, 1, -1, -1, 0;
  logits << 3, 2, 1, -1, 100;
  // P = 2 logit - 3 is 3, 1, -1, -5.
  EXPECT_DOUBLE_EQ(least_margin(signs, logits), 5);
  EXPECT_DOUBLE_EQ(least_margin(signs, 7 * logits - 2), 5);
  EXPECT_EQ(least_margin(signs, -logits), INFINITY);
  EXPECT_EQ(least_margin(Eigen::ArrayXd::Ones(3), Eigen::ArrayXd::Random(3)), 1);
}

FitSettings settings_with(std::vector<double> alphas, std::vector<std::int64_t> dims) {
  FitSettings settings;
  settings.alphas = std::move(alphas);
  settings.dims = std::move(dims);
  return settings;
}

Call call_of(const char* similarity) {
  Call call = call_from_text(similarity);
  return call;
}

TEST(FitDimensions, OfAPairIsOne) {
  // S = [[1, 1], [-1, 1]]: q.k + b with q = (1, -1), k = (-1, 1), b = 1 has rank 1 and margin 2:
  // it is 0 in the corner; q = (0, 1), k = (-1, 1) gives 2 q.k + ... in one dimension.
  const Matrix signs = sign_matrix(hierarchy_of({{1, 0}}, 2));
  const std::vector<Fit> fits =
      fit_dimensions(signs, call_of("dot"), settings_with({4}, {1, 2, 3}));
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0].dim, 1);
  EXPECT_EQ(fits[0].similarity, "dot");
  EXPECT_EQ(fits[0].starts, 4);
  EXPECT_GE(fits[0].agreed, 1);
}

TEST(FitDimensions, DotNeedsTheRankThatTheMarginOfOneForces) {
  // At margin 1, P = S. The S of small_tree has rank 4, and S - b 1 1ᵀ has rank 3 for one b, so
  // that dot needs 3 dimensions.
  const Matrix signs = sign_matrix(small_tree());
  const auto fits = fit_dimensions(signs, call_of("dot"), settings_with({1, 8}, {1, 2, 3, 4}));
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_EQ(fits[0].dim, 3);
  ASSERT_TRUE(fits[1].dim);
  EXPECT_LE(*fits[1].dim, 2);
}

TEST(FitDimensions, ConesFitATree) {
  const Matrix signs = sign_matrix(small_tree());
  for (const char* cone : {"penumbral", "umbral", "laplacian"}) {
    SCOPED_TRACE(cone);
    const auto fits = fit_dimensions(signs, call_of(cone), settings_with({4}, {2, 3, 4}));
    ASSERT_TRUE(fits[0].dim);
    EXPECT_EQ(fits[0].searched, *fits[0].dim);
  }
}

TEST(FitDimensions, SaysWhatItDidNotFindOrDidNotSearch) {
  const Matrix signs = sign_matrix(small_tree());
  FitSettings settings = settings_with({1, 1.01}, {1});
  settings.steps = 50;
  for (const Fit& fit : fit_dimensions(signs, call_of("dot"), settings)) {
    EXPECT_FALSE(fit.dim);
    EXPECT_EQ(fit.agreed, 0);
    EXPECT_EQ(fit.searched, 1);
  }
  settings.seconds = -1;
  EXPECT_EQ(fit_dimensions(signs, call_of("dot"), settings)[0].searched, 0);
  settings.cancelled = [] { return true; };
  EXPECT_THROW((void)fit_dimensions(signs, call_of("dot"), settings), Error);
}

TEST(FitDimensions, AHierarchyOfOneNodeFitsAtOnce) {
  const auto fits = fit_dimensions(Matrix::Ones(1, 1), call_of("umbral"), settings_with({1}, {2}));
  EXPECT_EQ(fits[0].dim, 2);
  EXPECT_EQ(fits[0].agreed, 4);
}

}  // namespace
}  // namespace conelab::rank
