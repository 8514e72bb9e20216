// Products of Eigen matrices, computed by core/simd/matrix_product.h, which is faster than Eigen on
// the x86-64 baseline and compiles in a fraction of the time. Tokens as Eigen matrices.
#pragma once

#include <Eigen/Core>

#include "core/base/tensor.h"
#include "core/simd/matrix_product.h"

namespace conelab {

template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// A matrix in memory of its owner, without gaps between its rows.
template <class T>
using RowMatrixView = Eigen::Map<const RowMatrix<T>>;
/// Tokens [count × columns] in memory of their owner, which may have gaps between its rows.
template <class T>
using TokenMatrix = Eigen::Map<const RowMatrix<T>, 0, Eigen::OuterStride<>>;
template <class T>
[[nodiscard]] TokenMatrix<T> matrix_of_tokens(const TokenRows<const T>& tokens) {
  return {tokens.data, tokens.count, tokens.columns, Eigen::OuterStride<>(tokens.stride)};
}

/// Returns the view of a matrix in memory: a Matrix, Map, Ref, a block of one, or a transpose.
template <class M>
[[nodiscard]] MatrixView<typename M::Scalar> view_of(const M& m) {
  const bool row_major = M::IsRowMajor;
  return {m.data(), m.rows(), m.cols(), row_major ? m.outerStride() : m.innerStride(),
          row_major ? m.innerStride() : m.outerStride()};
}

/// Computes c = a b, or c += a b. `c` is row-major, has the sizes of the product, and shares no
/// memory with a or b.
template <class C, class A, class B>
void set_product(C&& c, const A& a, const B& b, Store store = Store::replace) {
  multiply(view_of(a), view_of(b), c.data(), c.outerStride(), store);
}
template <class C, class A, class B>
void add_product(C&& c, const A& a, const B& b) {
  set_product(c, a, b, Store::add);
}

/// Returns a b as a matrix of its own.
template <class A, class B>
[[nodiscard]] auto product_of(const A& a, const B& b) {
  RowMatrix<typename A::Scalar> c(a.rows(), b.cols());
  set_product(c, a, b);
  return c;
}

}  // namespace conelab
