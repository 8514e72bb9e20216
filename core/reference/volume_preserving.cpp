// Volume-preserving attention, from GeometricMachineLearning's manual and code, with tokens as
// rows:
//   skew       C = X S X^T, S = (A - A^T)/2
//   arbitrary  C = L - L^T, L the strict lower triangle of X A X^T / sqrt(d)
//   Lambda = (I - C)(I + C)^-1,  weights = Lambda^T,  output = Lambda^T X
#include <cmath>
#include <utility>

#include "core/reference/structured.h"

namespace conelab::reference {
namespace {

Matrix zeros(std::size_t rows, std::size_t columns) {
  return Matrix(rows, std::vector<Real>(columns));
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c = zeros(a.size(), b.front().size());
  for (std::size_t i = 0; i < c.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      for (std::size_t j = 0; j < c[i].size(); ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

/// Returns a^-1 b by Gaussian elimination with row exchanges.
Matrix solved(Matrix a, Matrix b) {
  const std::size_t n = a.size();
  const auto subtract = [](std::vector<Real>& row, const std::vector<Real>& from, Real factor) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] -= factor * from[j];
  };
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t largest = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(a[i][k]) > std::abs(a[largest][k])) largest = i;
    }
    std::swap(a[k], a[largest]);
    std::swap(b[k], b[largest]);
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const Real factor = a[i][k] / a[k][k];
      subtract(a[i], a[k], factor);
      subtract(b[i], b[k], factor);
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    for (Real& x : b[k]) x /= a[k][k];
  }
  return b;
}

/// C of one head's tokens x [n x d].
Matrix skew_products(const Problem& p, const Matrix& x, std::int64_t head) {
  const std::size_t n = x.size(), d = x.front().size();
  const bool skew = p.word("weighting") == "skew";
  const Real* given = p.tensor("A", head, 2);
  Matrix A = zeros(d, d);
  for (std::size_t r = 0; r < d; ++r) {
    for (std::size_t c = 0; c < d; ++c) {
      A[r][c] = skew ? (given[r * d + c] - given[c * d + r]) / 2
                     : given[r * d + c] / std::sqrt(static_cast<Real>(d));
    }
  }
  const Matrix all = product(product(x, A), transposed(x));
  if (skew) return all;
  Matrix C = zeros(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      C[i][j] = all[i][j];
      C[j][i] = -all[i][j];
    }
  }
  return C;
}

}  // namespace

void volume_preserving(const Problem& p, std::int64_t b, std::int64_t h, Tensor4<Real>& output) {
  const Shape4 sizes = p.query.shape;
  Matrix x;
  for (std::int64_t i = 0; i < sizes.token; ++i) {
    const Real* row = p.query.row(b, h, i);
    x.emplace_back(row, row + sizes.feature);
  }
  const Matrix C = skew_products(p, x, h);
  Matrix plus = C, minus = C;
  for (std::size_t i = 0; i < C.size(); ++i) {
    for (std::size_t j = 0; j < C.size(); ++j) {
      plus[i][j] = (i == j ? 1 : 0) + C[i][j];
      minus[i][j] = (i == j ? 1 : 0) - C[i][j];
    }
  }
  // Lambda^T X = (I + C)^-T (I - C)^T X
  const Matrix y = solved(transposed(plus), product(transposed(minus), x));
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t c = 0; c < y[i].size(); ++c) {
      output.at(b, h, static_cast<std::int64_t>(i), static_cast<std::int64_t>(c)) = y[i][c];
    }
  }
}

}  // namespace conelab::reference
