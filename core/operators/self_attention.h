// Masked self-attention with weights for each feature (core/simd/bounded_softmax.h), with
// q = W_query x and k = W_key x + b. Bi-BloSAN, ICLR 2018, section 2.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "core/base/buffer.h"
#include "core/simd/bounded_softmax.h"
#include "core/token/eigen_products.h"

namespace conelab {

/// A masked self-attention over rows: its inputs, outputs and their derivatives. Columns beyond d
/// are 0.
template <class T>
struct SelfAttention {
  using Matrix = RowMatrix<T>;
  using Rows = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

  Matrix query, key, value, average, inverse_sum;  ///< [rows x stride]
  /// [rows x stride] Of the backward pass.
  Matrix average_slope, query_slope, key_slope, value_slope;
  std::int64_t d;

  SelfAttention(std::int64_t rows, std::int64_t columns) : d(columns) {
    const std::int64_t stride = round_up<std::int64_t>(d, bounded_columns);
    for (auto* each : {&query, &key, &value, &average, &inverse_sum}) {
      *each = Matrix::Zero(rows, stride);
    }
  }
  void prepare_slopes() {
    for (auto* each : {&average_slope, &query_slope, &key_slope, &value_slope}) {
      *each = Matrix::Zero(value.rows(), value.cols());
    }
  }
  /// Sets the rows from `first` on, given tokens x.
  void set(std::int64_t first, const Rows& x, const Matrix& W_q, const Matrix& W_k,
           const Matrix& offset) {
    const std::int64_t count = x.rows();
    value.block(first, 0, count, d) = x;
    set_product(query.block(first, 0, count, d), x, W_q.transpose());
    key.block(first, 0, count, d).rowwise() = offset.row(0);
    add_product(key.block(first, 0, count, d), x, W_k.transpose());
  }
  /// Returns dL/dx of tokens that were set.
  [[nodiscard]] Matrix slope(std::int64_t first, std::int64_t count, const Matrix& W_q,
                             const Matrix& W_k) const {
    Matrix dx = value_slope.block(first, 0, count, d);
    add_product(dx, query_slope.block(first, 0, count, d), W_q);
    add_product(dx, key_slope.block(first, 0, count, d), W_k);
    return dx;
  }
  /// Returns the columns [column, column + columns) of a block of rows.
  [[nodiscard]] BoundedBlock<T> block(std::int64_t first, std::int64_t count, std::int64_t column,
                                      std::int64_t columns, bool later) {
    const std::int64_t at = first * value.cols() + column;
    return {query.data() + at,       key.data() + at,           value.data() + at,
            average.data() + at,     inverse_sum.data() + at,   value.cols(),
            static_cast<int>(count), static_cast<int>(columns), later};
  }
  [[nodiscard]] BoundedSlopes<T> slopes(std::int64_t first, std::int64_t count, std::int64_t column,
                                        std::int64_t columns, bool later) {
    const std::int64_t at = first * value.cols() + column;
    return {block(first, count, column, columns, later), average_slope.data() + at,
            query_slope.data() + at, key_slope.data() + at, value_slope.data() + at};
  }
};

}  // namespace conelab
