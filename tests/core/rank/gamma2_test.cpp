#include "core/rank/gamma2.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace conelab::rank {
namespace {

/// Where a node of a row follows its parent: S of a chain.
Matrix triangular(Eigen::Index n) {
  const Matrix ones = Matrix::Ones(n, n);
  Matrix signs = -ones;
  signs.triangularView<Eigen::Upper>() = ones;
  return signs;
}

Matrix hadamard(int doublings) {
  Matrix signs = Matrix::Ones(1, 1);
  for (int i = 0; i < doublings; ++i) {
    Matrix twice(2 * signs.rows(), 2 * signs.rows());
    twice << signs, signs, signs, -signs;
    signs = twice;
  }
  return signs;
}

Matrix complete_tree(std::int64_t branching, std::int64_t nodes) {
  std::vector<std::array<Node, 2>> edges;
  std::vector<std::string> names(static_cast<std::size_t>(nodes));
  for (Node child = 1; child < nodes; ++child) edges.push_back({child, (child - 1) / branching});
  return sign_matrix(make_hierarchy(edges, names));
}

void expect_certified(const NormInterval& found, double known) {
  EXPECT_LE(found.lower, known);
  EXPECT_GE(found.upper, known);
  EXPECT_LE(found.upper - found.lower, 1e-3);
  EXPECT_GE(found.value, found.lower);
  EXPECT_LE(found.value, found.upper);
}

/// γ₂ of the triangular matrix of signs: the mean of its singular values (all rows and columns are
/// alike on the circle of 2n nodes), which are 1 / sin((2k - 1) π / 2n).
double norm_of_triangular(int n) {
  double sum = 0;
  for (int k = 1; k <= n; ++k) sum += 1 / std::abs(std::sin((2 * k - 1) * M_PI / (2 * n)));
  return sum / n;
}

TEST(Gamma2, KnownMatrices) {
  for (const int n : {1, 2, 7, 128}) {
    SCOPED_TRACE(n);
    const Matrix unit = Matrix::Identity(n, n), ones = Matrix::Ones(n, n);
    expect_certified(gamma2(unit), 1);
    expect_certified(gamma2(ones), 1);
    if (n > 1) expect_certified(gamma2(2 * unit - ones), 3 - 4.0 / n);
    expect_certified(gamma2(triangular(n)), norm_of_triangular(n));
  }
  for (const int doublings : {1, 4, 7}) {
    expect_certified(gamma2(hadamard(doublings)), std::sqrt(std::ldexp(1, doublings)));
  }
}

TEST(Gamma2, IsOneOfTheTwoSidesOfARectangle) {
  // A = 1ᵀ x: the longest row of X is 1, that of Y is 3.
  Matrix row(1, 3);
  row << 1, -3, 2;
  expect_certified(gamma2(row), 3);
  expect_certified(gamma2(row.transpose()), 3);
  expect_certified(gamma2(-5 * Matrix::Identity(4, 4)), 5);
  EXPECT_EQ(gamma2(Matrix::Zero(2, 3)).upper, 0);
}

TEST(Gamma2, DoesNotDependOnTheOrderOrTheSignsOfRows) {
  Matrix signs = complete_tree(2, 31);
  const NormInterval found = gamma2(signs);
  expect_certified(found, found.value);
  signs = signs.colwise().reverse().eval();
  signs.row(3) *= -1;
  const NormInterval again = gamma2(signs);
  EXPECT_LE(again.lower, found.upper);
  EXPECT_GE(again.upper, found.lower);
}

TEST(Gamma2, OfTwoByTwoSignsIsTheRootOfTwo) {
  // [[1, 1], [-1, 1]] is a Hadamard matrix; it is also the hierarchy of a root and its child.
  const Matrix signs = complete_tree(1, 2);
  EXPECT_EQ(signs(0, 1), 1);
  EXPECT_EQ(signs(1, 0), -1);
  expect_certified(gamma2(signs), std::sqrt(2.0));
}

TEST(Gamma2Alpha, FallsWithTheMarginAndKeepsKnownAnswers) {
  // The dual matrix of a Hadamard matrix has its signs, so that a larger margin gains nothing; the
  // same holds for triangular matrices.
  for (const double alpha : {1.0, 1.5, 4.0}) {
    expect_certified(gamma2_alpha(hadamard(4), alpha), 4);
    expect_certified(gamma2_alpha(triangular(16), alpha), norm_of_triangular(16));
    expect_certified(gamma2_alpha(Matrix::Ones(5, 5), alpha), 1);
  }
  const Matrix tree = complete_tree(3, 40);
  NormInterval before = gamma2(tree);
  for (const double alpha : {1.0, 1.5, 2.0, 4.0}) {
    SCOPED_TRACE(alpha);
    const NormInterval found = gamma2_alpha(tree, alpha);
    expect_certified(found, found.value);
    EXPECT_LE(found.lower, before.upper);
    before = found;
  }
  // Another method, alternating directions on the block matrix, gave 3.27814 to 1e-3 at 4.
  EXPECT_NEAR(before.value, 3.2780, 1e-3);
}

TEST(Gamma2Alpha, OfOneMatrixWithAFreeEntry) {
  // [[1, 1], [1, 1]] has γ₂ = 1 at any margin. With one negative entry, A = [[a, 1], [1, -1]] with
  // a ≤ α cannot do better than a = 1, where it is a Hadamard matrix.
  Matrix signs(2, 2);
  signs << 1, 1, 1, -1;
  expect_certified(gamma2_alpha(signs, 3), std::sqrt(2.0));
}

TEST(Gamma2Alpha, AShortSearchGivesAWiderIntervalThatHolds) {
  const Matrix tree = complete_tree(2, 63);
  const NormInterval exact = gamma2_alpha(tree, 2);
  NormLimits limits;
  limits.seconds = 0;
  const NormInterval hasty = gamma2_alpha(tree, 2, limits);
  EXPECT_FALSE(hasty.in_time);
  EXPECT_EQ(hasty.iterations, 1);
  EXPECT_GT(hasty.upper - hasty.lower, exact.upper - exact.lower);
  EXPECT_LE(hasty.lower, exact.upper);
  EXPECT_GE(hasty.upper, exact.lower);
}

TEST(Gamma2Alpha, ABoundOfTheRank) {
  const NormInterval norm{4, 3.9, 4.1, 1, true};
  EXPECT_DOUBLE_EQ(rank_bound(norm, 1), 3.9 * 3.9);
  EXPECT_DOUBLE_EQ(rank_bound(norm, 2), 3.9 * 3.9 / 4);
}

TEST(Gamma2, RefusesWhatHasNoNorm) {
  EXPECT_THROW((void)gamma2(Matrix()), Error);
  EXPECT_THROW((void)gamma2(Matrix::Constant(2, 2, std::nan(""))), Error);
  EXPECT_THROW((void)gamma2_alpha(Matrix::Ones(2, 2), 0.5), Error);
  EXPECT_THROW((void)gamma2_alpha(Matrix::Ones(2, 2), INFINITY), Error);
  NormLimits limits;
  limits.cancelled = [] { return true; };
  EXPECT_THROW((void)gamma2(triangular(9), limits), Error);
}

}  // namespace
}  // namespace conelab::rank
