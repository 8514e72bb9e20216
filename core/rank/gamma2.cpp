#include "core/rank/gamma2.h"

#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace conelab::rank {
namespace {

using Vector = Eigen::VectorXd;
using Eigen::Index;

/// A bound of the relative rounding error of one operation, with reserve.
constexpr double rounding = 1.2e-16;

struct Box {
  Matrix low, high;
};

struct Weights {
  Vector row, column;

  [[nodiscard]] Matrix scaled(const Matrix& a) const {
    return row.cwiseSqrt().asDiagonal() * a * column.cwiseSqrt().asDiagonal();
  }
  [[nodiscard]] Matrix unscaled(const Matrix& a) const {
    return row.cwiseSqrt().cwiseInverse().asDiagonal() * a *
           column.cwiseSqrt().cwiseInverse().asDiagonal();
  }
};

struct Decomposition {
  Matrix left, right;
  Vector values;

  explicit Decomposition(const Matrix& m) {
    const Eigen::BDCSVD<Matrix> svd(m, Eigen::ComputeThinU | Eigen::ComputeThinV);
    left = svd.matrixU();
    right = svd.matrixV();
    values = svd.singularValues();
  }
  /// Returns the matrix with its singular values reduced to 1 where they are larger.
  [[nodiscard]] Matrix within_ball() const {
    return left * values.cwiseMin(1.0).asDiagonal() * right.transpose();
  }
};

/// Returns |X_i|² of the factor with rows √(values) vectors_i / √weight_i.
Vector squared_rows(const Matrix& vectors, const Vector& values, const Vector& weights) {
  return (vectors.cwiseAbs2() * values).cwiseQuotient(weights);
}

/// Returns the sum over all entries of the least z_ij a_ij in the box, minus its rounding errors.
double least_product(const Matrix& z, const Box& box) {
  const Matrix terms = z.cwiseProduct(box.low).cwiseMin(z.cwiseProduct(box.high));
  const auto count = static_cast<double>(z.size());
  return terms.sum() - (count + 8) * rounding * terms.cwiseAbs().sum();
}

/// Returns an upper bound of the norm of M, whose norm is known to be about 1.
double certified_norm(const Matrix& m) {
  const Index rows = m.rows(), size = rows + m.cols();
  const auto count = static_cast<double>(size);
  const double shift = 2 * rounding * (count + 2) * count;
  Matrix block = Matrix::Zero(size, size);
  block.bottomLeftCorner(m.cols(), rows) = m.transpose();
  for (double excess = shift; std::isfinite(excess); excess *= 8) {
    block.diagonal().setConstant(1 + excess);
    if (Eigen::LLT<Matrix>(block).info() == Eigen::Success) return 1 + excess + shift;
  }
  return std::numeric_limits<double>::infinity();
}

/// Returns a certified upper bound of γ₂(A).
double certified_upper(const Matrix& a, const Weights& weights) {
  const Decomposition parts(weights.scaled(a));
  const auto root = parts.values.cwiseSqrt().asDiagonal();
  const Matrix x = weights.row.cwiseSqrt().cwiseInverse().asDiagonal() * parts.left * root;
  const Matrix y = weights.column.cwiseSqrt().cwiseInverse().asDiagonal() * parts.right * root;
  const double product =
      std::sqrt(x.rowwise().squaredNorm().maxCoeff() * y.rowwise().squaredNorm().maxCoeff());
  const Matrix rest = a - x * y.transpose();
  const auto n = static_cast<double>(a.cols());
  const double error = (n + 4) * rounding * (product * (1 + std::sqrt(n)) + rest.norm());
  return product + rest.rowwise().norm().maxCoeff() + error;
}

/// Returns a certified lower bound of the γ₂ of every matrix in the box.
double certified_lower(const Matrix& dual, const Weights& weights, const Box& box) {
  const double sums = std::sqrt(weights.row.sum() * weights.column.sum());
  const auto n = static_cast<double>(dual.rows() + dual.cols());
  const double bound = least_product(weights.scaled(dual), box) / (certified_norm(dual) * sums);
  return std::max(0.0, bound * (1 - n * rounding));
}

class Search {
 public:
  Search(Box box, Matrix start, const NormLimits& limits)
      : box_(std::move(box)), limits_(limits), a_(std::move(start)) {
    weights_ = {Vector::Constant(a_.rows(), 1.0 / static_cast<double>(a_.rows())),
                Vector::Constant(a_.cols(), 1.0 / static_cast<double>(a_.cols()))};
  }

  NormInterval run() {
    weigh();
    if (box_.low != box_.high) move();
    NormInterval found;
    found.lower = certified_lower(lower_.matrix, lower_.weights, box_);
    found.upper = certified_upper(upper_.matrix, upper_.weights);
    found.value = (found.lower + found.upper) / 2;
    found.iterations = iterations_;
    found.in_time = in_time_;
    return found;
  }

 private:
  /// The best bound so far, before it is certified, and what shows it.
  struct Witness {
    double bound;
    Matrix matrix;
    Weights weights;
  };

  Box box_;
  const NormLimits& limits_;
  Matrix a_, dual_;
  Weights weights_;
  Witness lower_{-1, {}, {}}, upper_{std::numeric_limits<double>::infinity(), {}, {}};
  int iterations_ = 0;
  bool in_time_ = true;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  /// Returns whether the interval is too wide and the limits allow another iteration.
  bool goes_on() {
    stop_if(limits_.cancelled);
    if (upper_.bound - lower_.bound <= limits_.width) return false;
    if (iterations_ >= limits_.iterations) return false;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
    in_time_ = iterations_ == 0 || passed.count() < limits_.seconds;
    if (in_time_) ++iterations_;
    return in_time_;
  }

  void note_lower() {
    const double bound = least_product(weights_.scaled(dual_), box_);
    if (bound > lower_.bound) lower_ = {bound, dual_, weights_};
  }

  /// Notes the upper bound of A = left diag(values) rightᵀ and moves the weights towards those that
  /// make all rows of X and Y equally long.
  void reweigh(const Decomposition& parts, double exponent) {
    const Vector rows = squared_rows(parts.left, parts.values, weights_.row);
    const Vector columns = squared_rows(parts.right, parts.values, weights_.column);
    const double bound = std::sqrt(rows.maxCoeff() * columns.maxCoeff());
    if (bound < upper_.bound) upper_ = {bound, a_, weights_};
    const double sum = parts.values.sum();
    if (!(sum > 0)) return;
    change(weights_.row, rows / sum, exponent);
    change(weights_.column, columns / sum, exponent);
  }
  /// Weights stay above a millionth of the mean: smaller ones would magnify rounding errors.
  static void change(Vector& weights, const Vector& factors, double exponent) {
    const double least = 1e-6 / static_cast<double>(weights.size());
    weights = weights.array() * factors.array().pow(exponent);
    weights = (weights / weights.sum()).cwiseMax(least);
    weights /= weights.sum();
  }

  /// Finds the weights of the present A, roughly if A may change. An exponent of 2 would overshoot
  /// by as much as was lacking.
  void weigh() {
    const double width = box_.low == box_.high ? 0 : 1e-2;
    for (double of_a = 0; upper_.bound - of_a > width && goes_on();) {
      const Decomposition parts(weights_.scaled(a_));
      dual_ = parts.left * parts.right.transpose();
      of_a = parts.values.sum();
      note_lower();
      reweigh(parts, 1.8);
    }
  }

  /// Finds A, the dual matrix and the weights together.
  void move() {
    constexpr int steps_between = 5;
    const double step = 1 / std::sqrt(static_cast<double>(std::min(a_.rows(), a_.cols())));
    for (int count = 0; goes_on(); ++count) {
      if (count % steps_between == 0) {
        note_lower();
        reweigh(Decomposition(weights_.scaled(a_)), 1.0);
      }
      const Matrix before = dual_;
      dual_ = Decomposition(dual_ + weights_.scaled(a_) / step).within_ball();
      a_ -= step * weights_.unscaled(2 * dual_ - before);
      a_ = a_.cwiseMax(box_.low).cwiseMin(box_.high);
    }
  }
};

NormInterval search(Box box, const Matrix& start, const NormLimits& limits) {
  if (start.size() == 0) misuse("the norm of a matrix without numbers is not defined");
  if (!start.allFinite()) misuse("the norm of a matrix needs finite numbers");
  if (start.isZero(0)) return {};
  return Search(std::move(box), start, limits).run();
}

}  // namespace

NormInterval gamma2(const Matrix& a, const NormLimits& limits) { return search({a, a}, a, limits); }

NormInterval gamma2_alpha(const Matrix& signs, double alpha, const NormLimits& limits) {
  if (!(alpha >= 1) || !std::isfinite(alpha)) misuse("alpha must be at least 1 (found {})", alpha);
  const Matrix far = alpha * signs;
  return search({signs.cwiseMin(far), signs.cwiseMax(far)}, signs, limits);
}

double rank_bound(const NormInterval& norm, double alpha) {
  return norm.lower * norm.lower / (alpha * alpha);
}

}  // namespace conelab::rank
