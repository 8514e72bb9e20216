// Products of matrices in the caller's memory, computed by the SIMD kernels of this machine.
//
// They serve operators whose cost is products with weight matrices (projections, classes, gates).
// Attention itself multiplies tiles with operands that are packed once (core/tiles).
//
// The kernels are always the best ones of the machine. Execution::simd chooses the kernels of tiles
// only, so that these products have the same bits under every target. The blocks that a product
// copies lie on the stack (160 KiB for double).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd/kernels.h"

namespace conelab {

/// A matrix [rows × columns]. Element (i, j) is data[i * row_stride + j * column_stride]; one of
/// the strides is 1. T is float or double.
template <class T>
struct MatrixView {
  const T* data;
  std::int64_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;
};

/// Computes c = a b, or c += a b with Store::add. `c` [a.rows × b.columns] is row-major with rows
/// `stride` apart and must not overlap a or b. Terms are added in an order that depends on the
/// sizes alone, so that results do not depend on the number of threads that call. An empty inner
/// dimension gives zeros. The number of columns of `a` must be the number of rows of `b`.
template <class T>
void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::ptrdiff_t stride,
              Store store);

}  // namespace conelab
