// Volume-preserving attention: the Cayley transform of a skew-symmetric matrix C [n x n], computed
// from the tokens, replaces the softmax.
//
//   skew       C_ij = x_i^T S x_j,  S = (A - A^T)/2
//   arbitrary  C_ij = x_i^T A x_j / sqrt(d) for i > j,  C_ji = -C_ij,  0 on the diagonal
//   Lambda = (I - C)(I + C)^-1,  output = Lambda^T X = 2 (I - C)^-1 X - X,  weights = Lambda^T
//
// GeometricMachineLearning, manual, Volume-preserving attention (where tokens are columns). The
// factor 1/sqrt(d) is that of its code. Both weightings preserve |X|. The Jacobian has determinant
// 1 for skew, but not for arbitrary.
//
// With B = S or A/sqrt(d) and p_i = B^T x_i both are C_ij = p_i . x_j for i > j, which is
// semiseparable of rank d. There are three ways to solve with I +- C:
//   skew, form=linear       (I - C)^-1 X = X (I_d - S X^T X)^-1: 4 n d^2 + 5 d^3 operations, d^2
//                           memory
//   arbitrary, form=linear  block elimination over the tokens, with d x d sums for all earlier
//                           blocks: 16 n d^2 operations, O(nd) memory
//   form=cubic              the array C: 2 n^2 d + 2/3 n^3 operations, n^2 memory; for n = 2 ... 5
//                           an inverse in closed form, without cancellation
// The symmetric part of I + C is I, and that of every Schur complement is positive definite, so
// that no pivot is small.
//
// Everything is computed in double, except the products of tokens with d x d matrices in the skew
// linear form.
#include <Eigen/Core>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/operators/structured.h"
#include "core/token/eigen_products.h"

namespace conelab {
namespace volume_preserving {
namespace {

using Matrix = RowMatrix<double>;
using Tokens = Eigen::Ref<const Matrix>;  ///< [n x d]
template <class T>
using Given = TokenMatrix<T>;
template <class T>
using Result = Eigen::Map<RowMatrix<T>>;
using Eigen::Index;

/// Positions in the operator's list of parameters.
enum { p_A, p_weighting, p_form };

// ---- solving with I + C -------------------------------------------------------------------------
// C is given by x [n x d] and B [d x d]: C_ij = p_i . x_j for i > j, P = X B.

/// The number of tokens in a block, for sums over all earlier or all later tokens.
constexpr Index tokens_at_once = 32;

template <class Work>
void for_blocks(Index n, const Work& work) {
  for (Index first = 0; first < n; first += tokens_at_once) {
    work(first, std::min(tokens_at_once, n - first));
  }
}
template <class Work>
void for_blocks_backwards(Index n, const Work& work) {
  const Index blocks = (n + tokens_at_once - 1) / tokens_at_once;
  for (Index block = blocks - 1; block >= 0; --block) {
    const Index first = block * tokens_at_once;
    work(first, std::min(tokens_at_once, n - first));
  }
}

Matrix skew_completed(Matrix c, double diagonal) {
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < i; ++j) c(j, i) = -c(i, j);
    c(i, i) = diagonal;
  }
  return c;
}

/// Returns (I + C)^-1 b without an n x n array. M and a are sums over the eliminated tokens. A
/// block has the Schur complement E = I + C + P M P^T and the right-hand side b - P a.
Matrix solve_semiseparable(const Tokens& x, const Matrix& B, const Tokens& b) {
  const Index n = x.rows(), d = x.cols();
  Matrix M = Matrix::Zero(d, d), a = Matrix::Zero(d, b.cols()), z(n, d), y(n, b.cols());
  for_blocks(n, [&](Index first, Index count) {
    const auto xb = x.middleRows(first, count);
    const Matrix pb = product_of(xb, B), pm = product_of(pb, M);
    Matrix u = xb;
    add_product(u, pb, M.transpose());
    Matrix e = skew_completed(product_of(pb, xb.transpose()), 1);
    add_product(e, pm, pb.transpose());
    const Eigen::PartialPivLU<Matrix> lu(e);
    z.middleRows(first, count) = lu.solve(xb - pm);
    y.middleRows(first, count) = lu.solve(b.middleRows(first, count) - product_of(pb, a));
    add_product(M, u.transpose(), z.middleRows(first, count));
    add_product(a, u.transpose(), y.middleRows(first, count));
  });
  Matrix later = Matrix::Zero(d, b.cols());
  for_blocks_backwards(n, [&](Index first, Index count) {
    auto yb = y.middleRows(first, count);
    add_product(yb, z.middleRows(first, count), later);
    const Matrix pb = product_of(x.middleRows(first, count), B);
    add_product(later, pb.transpose(), yb);
  });
  return y;
}

double pfaffian(const Matrix& c, Index i, Index j, Index k, Index l) {
  return c(i, j) * c(k, l) - c(i, k) * c(j, l) + c(i, l) * c(j, k);
}

/// Returns the Pfaffians whose squares sum to the term of fourth order of det(I + C): none for n <=
/// 3, one for n = 4, and for n = 5 that of the four indices without o, times (-1)^o.
std::vector<double> pfaffians(const Matrix& c) {
  if (c.rows() < 4) return {};
  if (c.rows() == 4) return {pfaffian(c, 0, 1, 2, 3)};
  return {pfaffian(c, 1, 2, 3, 4), -pfaffian(c, 0, 2, 3, 4), pfaffian(c, 0, 1, 3, 4),
          -pfaffian(c, 0, 1, 2, 4), pfaffian(c, 0, 1, 2, 3)};
}

/// Returns an entry of (I + C)^-1 det(I + C) without the term of fourth order.
double closed_entry(const Matrix& c, Index i, Index j) {
  double sum = i == j ? 1 : c.row(i).dot(c.col(j)) - c(i, j);
  for (Index k = 0; k < c.rows(); ++k) {
    for (Index l = k + 1; l < c.rows(); ++l) {
      if (k == i || k == j || l == i || l == j) continue;
      sum += i == j ? c(k, l) * c(k, l) : -pfaffian(c, i, j, k, l) * c(k, l);
    }
  }
  return sum;
}

/// Returns (I + C)^-1 for skew-symmetric C with n <= 5, from sums of products without cancellation.
Matrix closed_inverse(const Matrix& c) {
  const std::vector<double> fourth = pfaffians(c);
  const Eigen::Map<const Eigen::VectorXd> pi(fourth.data(), static_cast<Index>(fourth.size()));
  Matrix inverse(c.rows(), c.rows());
  for (Index i = 0; i < c.rows(); ++i) {
    for (Index j = 0; j < c.rows(); ++j) inverse(i, j) = closed_entry(c, i, j);
  }
  if (c.rows() == 5) inverse += pi * pi.transpose();
  return inverse / (1 + c.squaredNorm() / 2 + pi.squaredNorm());
}

constexpr Index most_closed = 5;

/// Returns (I + C)^-1 b, computed with the array C.
Matrix solve_cubic(const Tokens& x, const Matrix& B, const Tokens& b) {
  const bool closed = x.rows() <= most_closed;
  Matrix c = skew_completed(product_of(product_of(x, B), x.transpose()), closed ? 0 : 1);
  if (closed) return product_of(closed_inverse(c), b);
  const Eigen::PartialPivLU<Eigen::Ref<Matrix>> lu(c);
  return lu.solve(b);
}

// ---- one head -----------------------------------------------------------------------------------

/// Throws a failure that names the first pair of entries for which A is not skew-symmetric.
void check_skew(const Matrix& A) {
  const double tolerance = 1e-6 * A.cwiseAbs().maxCoeff();
  for (Index i = 0; i < A.rows(); ++i) {
    for (Index j = i; j < A.cols(); ++j) {
      if (std::abs(A(i, j) + A(j, i)) <= tolerance) continue;
      fail(
          "tensor A is not skew-symmetric, which weighting skew needs (expected A[{},{}] = "
          "-A[{},{}], found {} and {})",
          i, j, j, i, A(i, j), A(j, i));
    }
  }
}

struct Weighting {
  bool skew, cubic;
  Matrix B;  ///< [d x d] C_ij = x_i^T B x_j for i > j.

  explicit Weighting(const PartValues& v, std::int64_t d)
      : skew(v.p[p_weighting] != 0), cubic(v.p[p_form] != 0) {
    const Eigen::Map<const Matrix> A(v.tensor[p_A].data(), d, d);
    if (skew) check_skew(A);
    B = skew ? Matrix((A - A.transpose()) / 2) : Matrix(A / std::sqrt(static_cast<double>(d)));
  }
  [[nodiscard]] Matrix solve(const Tokens& x, double sign, const Tokens& b) const {
    return (cubic ? solve_cubic : solve_semiseparable)(x, sign * B, b);
  }
  /// Adds dL/dA to `sum` [d x d], given dL/dB.
  void add_gradient(const Matrix& dB, std::vector<double>& sum) const {
    Result<double> dA(sum.data(), dB.rows(), dB.cols());
    if (skew) {
      dA += (dB - dB.transpose()) / 2;
    } else {
      dA += dB / std::sqrt(static_cast<double>(dB.rows()));
    }
  }
};

template <class T>
void pairs_forward(const Weighting& weighting, const Given<T>& given, Result<T> output) {
  const Tokens x = given.template cast<double>();
  output = (2 * weighting.solve(x, -1, x) - x).template cast<T>();
}

/// Takes dL/dC_ij = w_i . v_j - v_i . w_j for i > j back to x and p, with sums over earlier and
/// later tokens as d x d matrices.
struct PairGradient {
  Matrix x, p;
};
PairGradient through_pairs(const Tokens& x, const Matrix& B, const Matrix& v, const Matrix& w) {
  const Index n = x.rows(), d = x.cols();
  PairGradient gradient{Matrix(n, d), Matrix(n, d)};
  const auto among = [&](Index first, Index count) {
    const auto vb = v.middleRows(first, count), wb = w.middleRows(first, count);
    const Matrix half = product_of(wb, vb.transpose()), all = half - half.transpose();
    return Matrix(all.triangularView<Eigen::StrictlyLower>());
  };
  Matrix by_v = Matrix::Zero(d, d), by_w = Matrix::Zero(d, d);
  for_blocks(n, [&](Index first, Index count) {
    const auto xb = x.middleRows(first, count);
    const auto vb = v.middleRows(first, count), wb = w.middleRows(first, count);
    gradient.p.middleRows(first, count) = product_of(among(first, count), xb) +
                                          product_of(wb, by_v.transpose()) -
                                          product_of(vb, by_w.transpose());
    add_product(by_v, xb.transpose(), vb);
    add_product(by_w, xb.transpose(), wb);
  });
  by_v.setZero(), by_w.setZero();
  for_blocks_backwards(n, [&](Index first, Index count) {
    const auto vb = v.middleRows(first, count), wb = w.middleRows(first, count);
    const Matrix pb = product_of(x.middleRows(first, count), B);
    gradient.x.middleRows(first, count) = product_of(among(first, count).transpose(), pb) +
                                          product_of(vb, by_w.transpose()) -
                                          product_of(wb, by_v.transpose());
    add_product(by_v, pb.transpose(), vb);
    add_product(by_w, pb.transpose(), wb);
  });
  return gradient;
}

/// With V = (I - C)^-1 X and W = (I + C)^-1 2G: dL/dX = W - G, plus the part by way of C.
template <class T>
void pairs_backward(const Weighting& weighting, const Given<T>& given, const Given<T>& upstream,
                    Result<T> dx, std::vector<double>& dA) {
  const Tokens x = given.template cast<double>(), g = upstream.template cast<double>();
  const Matrix v = weighting.solve(x, -1, x), w = weighting.solve(x, 1, 2 * g);
  const PairGradient through = through_pairs(x, weighting.B, v, w);
  dx = (w - g + through.x + product_of(through.p, weighting.B.transpose())).template cast<T>();
  weighting.add_gradient(product_of(x.transpose(), through.p), dA);
}

// ---- skew, linear -------------------------------------------------------------------------------

/// The rows are divided into parts, which the threads share. Sums are added part by part.
constexpr Index most_parts = 16;
/// The number of rows of one product in float. Sums of these products are in double.
constexpr Index rows_of_product = 256;

/// Calls `work(part, first, count)` for all parts of n rows.
template <class Work>
void for_parts(Index n, const Execution& run, const Work& work) {
  const Index parts = std::clamp<Index>(n / (2 * rows_of_product), 1, most_parts);
  run_tasks(parts, run, [&](std::int64_t part, const auto&) {
    const Index first = n * part / parts;
    work(part, first, n * (part + 1) / parts - first);
  });
}

template <class T>
Matrix sum_over_rows(const Given<T>& a, const Given<T>& b, const Execution& run) {
  std::vector<Matrix> sums(most_parts);
  for_parts(a.rows(), run, [&](Index part, Index begin, Index rows) {
    Matrix& sum = sums[static_cast<std::size_t>(part)];
    sum = Matrix::Zero(a.cols(), b.cols());
    RowMatrix<T> product(a.cols(), b.cols());
    for (Index first = begin; first < begin + rows; first += rows_of_product) {
      const Index count = std::min(rows_of_product, begin + rows - first);
      set_product(product, a.middleRows(first, count).transpose(), b.middleRows(first, count));
      sum += product.template cast<double>();
    }
  });
  Matrix total = std::move(sums.front());
  for (std::size_t part = 1; part < sums.size() && sums[part].size() > 0; ++part) {
    total += sums[part];
  }
  return total;
}

/// Returns (I - S G)^-1, where G = X^T X.
Matrix feature_inverse(const Matrix& S, const Matrix& G) {
  const Matrix identity = Matrix::Identity(S.rows(), S.cols());
  const Eigen::PartialPivLU<Matrix> lu(identity - product_of(S, G));
  return lu.solve(identity);
}

template <class T>
void features_forward(const Matrix& S, const Given<T>& x, Result<T> output, const Execution& run) {
  Matrix map = 2 * feature_inverse(S, sum_over_rows(x, x, run));
  map.diagonal().array() -= 1;
  const RowMatrix<T> narrow = map.template cast<T>();
  for_parts(x.rows(), run, [&](Index, Index first, Index count) {
    set_product(output.middleRows(first, count), x.middleRows(first, count), narrow);
  });
}

/// With B = (I - S G)^-1, H = B^T (2 X^T upstream) B^T and N = S^T H:
/// dL/dX = upstream (2 B^T - I) + X (N + N^T), dL/dS = H G.
template <class T>
void features_backward(const Weighting& weighting, const Given<T>& x, const Given<T>& upstream,
                       Result<T> dx, std::vector<double>& dA, const Execution& run) {
  const Matrix& S = weighting.B;
  const Matrix G = sum_over_rows(x, x, run);
  const Matrix Bt = feature_inverse(S, G).transpose();
  const Matrix H = 2 * product_of(product_of(Bt, sum_over_rows(x, upstream, run)), Bt);
  const Matrix N = product_of(S.transpose(), H);
  Matrix map = 2 * Bt;
  map.diagonal().array() -= 1;
  const RowMatrix<T> of_upstream = map.template cast<T>(),
                     of_x = (N + N.transpose()).template cast<T>();
  for_parts(x.rows(), run, [&](Index, Index first, Index count) {
    auto rows = dx.middleRows(first, count);
    set_product(rows, upstream.middleRows(first, count), of_upstream);
    add_product(rows, x.middleRows(first, count), of_x);
  });
  weighting.add_gradient(product_of(H, G), dA);
}

// ---- the operator -------------------------------------------------------------------------------

template <class T>
Weighting weighting_of(const Plan& plan, const AttentionInput<T>& input, std::int64_t head) {
  return Weighting(plan.values(plan.operator_parameters, head, input.tensors),
                   plan.extents.feature);
}

/// Returns whether threads share the rows of a head.
bool shares_rows(const Plan& plan) {
  const std::vector<double> p = plan.values(plan.operator_parameters, 0);
  return p[p_weighting] != 0 && p[p_form] == 0;
}

template <class T>
Given<T> rows_of(const StridedTensor4<T>& tensor, std::int64_t b, std::int64_t h) {
  return matrix_of_tokens(tensor.tokens(b, h));
}
template <class T>
Result<T> rows_of(Tensor4<T>& tensor, std::int64_t b, std::int64_t h) {
  return {tensor.row(b, h, 0), tensor.shape.token, tensor.shape.feature};
}

struct VolumePreserving {
  static constexpr double needed = std::numeric_limits<double>::quiet_NaN();
  static constexpr std::array parameters{
      ParameterInfo{"A", needed, Domain::tensor, true,
                    "form of the products x_i^T A x_j; weighting skew needs A = -A^T", "", "d,d"},
      ParameterInfo{"weighting", 0, Domain::choice, false,
                    "arbitrary: the products of a token with earlier ones; skew: all products",
                    "arbitrary|skew"},
      ParameterInfo{"form", needed, Domain::choice, false, "cost in n; the result is the same",
                    "linear|cubic", "", "linear where n > d, else cubic"}};
  static constexpr const char* masks[] = {"full"};
  static constexpr OperatorInfo info{
      "volume-preserving",
      "Lambda^T X, Lambda = (I - C)(I + C)^-1; C_ij = x_i^T A x_j (weighting skew) or, for i > j, "
      "x_i^T A x_j / sqrt(d) = -C_ji",
      "GeometricMachineLearning",
      "n",
      parameters,
      masks};

  static double initial(int index, const DefaultContext& c) {
    return index == p_form ? (c.query > c.feature ? 0 : 1) : needed;
  }
  /// Changes a drawn A for weighting=skew to (A - A^T)/sqrt(2).
  static void adjust_drawn(const Plan& plan, Array<double>& tensor) {
    if (plan.values(plan.operator_parameters, 0)[p_weighting] == 0) return;
    const Index d = plan.extents.feature;
    Result<double> A(tensor.data.data(), d, d);
    A = ((A - A.transpose()) / std::sqrt(2.0)).eval();
  }

  static double flops(const Plan& plan, Pass pass) {
    const Extents& e = plan.extents;
    const auto n = static_cast<double>(e.query), d = static_cast<double>(e.feature);
    const std::vector<double> p = plan.values(plan.operator_parameters, 0);
    const double linear = p[p_weighting] != 0 ? 4 * n * d * d + 5 * d * d * d : 16 * n * d * d;
    const double forward = p[p_form] == 0 ? linear : 2 * n * n * d + 2 * n * n * n / 3;
    return static_cast<double>(e.batch * e.head) * forward * (pass == Pass::forward ? 1 : 3);
  }

  /// The cubic form has the array C and its decomposition, in double.
  static double working_bytes(const Plan& plan) {
    const auto n = static_cast<double>(plan.extents.query);
    const bool cubic = plan.values(plan.operator_parameters, 0)[p_form] != 0;
    return cubic && n > most_closed ? 3 * n * n * sizeof(double) : 0;
  }
  static bool has_map(const Plan& plan, Map2d which) {
    return which == Map2d::weights && plan.values(plan.operator_parameters, 0)[p_form] != 0;
  }
  /// Returns rows of Lambda^T = 2 (I - C)^-1 - I, from columns of (I + C)^-1, because C^T = -C.
  template <class T>
  static void map(const Plan& plan, const AttentionInput<T>& input, Map2d, const Forward<T>*,
                  const MapTile& tile, T* out, const Execution&) {
    const Weighting own = weighting_of(plan, input, tile.head);
    const Tokens x = rows_of(input.query, tile.batch, tile.head).template cast<double>();
    const Index rows = tile.query_end - tile.query_begin, keys = tile.key_end - tile.key_begin;
    Matrix unit = Matrix::Zero(x.rows(), rows);
    for (Index i = 0; i < rows; ++i) unit(tile.query_begin + i, i) = 1;
    // A tile needs no n x n array.
    const Matrix columns =
        2 * (x.rows() <= most_closed ? solve_cubic : solve_semiseparable)(x, own.B, unit) - unit;
    Result<T>(out, rows, keys) =
        columns.middleRows(tile.key_begin, keys).transpose().template cast<T>();
  }

  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    const auto head = [&](auto b, auto h, auto& output, const Execution& inside) {
      const Weighting own = weighting_of(plan, input, h);
      const Given<T> x = rows_of(input.query, b, h);
      if (own.skew && !own.cubic) {
        features_forward(own.B, x, rows_of(output, b, h), inside);
      } else {
        pairs_forward(own, x, rows_of(output, b, h));
      }
    };
    return forward_by_head<T>(plan, run, head, shares_rows(plan));
  }

  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input, const Forward<T>&,
                              const Execution& run) {
    const auto head = [&](auto b, auto h, const auto& upstream, auto& result, auto& gradient,
                          const Execution& inside) {
      const Weighting own = weighting_of(plan, input, h);
      const Given<T> x = rows_of(input.query, b, h), g = rows_of(upstream, b, h);
      std::vector<double>& dA = gradient.tensor[p_A];
      if (own.skew && !own.cubic) {
        features_backward(own, x, g, rows_of(result.query, b, h), dA, inside);
      } else {
        pairs_backward(own, x, g, rows_of(result.query, b, h), dA);
      }
    };
    return backward_by_head<T>(plan, input, run, head, shares_rows(plan));
  }
};

}  // namespace
}  // namespace volume_preserving

OperatorRow volume_preserving_row() {
  return structured_row<volume_preserving::VolumePreserving>();
}

}  // namespace conelab
