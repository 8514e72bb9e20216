#include "core/simd/matrix_product.h"

#include <algorithm>

#include "core/base/buffer.h"

namespace conelab {
namespace {

// Sizes of the blocks that a product is divided into. A block of b is copied once, and then read by
// all rows of a.
constexpr std::int64_t block_depth = 256;
constexpr std::int64_t block_columns = 64;
constexpr std::int64_t block_rows = 64;

/// Copies rows [first_row, + depth) and columns [first_column, + columns) of b into row-major rows
/// that are `width` apart, and fills the rest of each row with zeros.
template <class T>
void copy_block(const MatrixView<T>& b, std::int64_t first_row, std::int64_t depth,
                std::int64_t first_column, std::int64_t columns, std::int64_t width, T* out) {
  for (std::int64_t s = 0; s < depth; ++s) {
    const T* from = b.data + (first_row + s) * b.row_stride + first_column * b.column_stride;
    T* row = out + s * width;
    for (std::int64_t j = 0; j < columns; ++j) row[j] = from[j * b.column_stride];
    std::fill(row + columns, row + width, T(0));
  }
}

template <class T>
void store_tile(const T* tile, std::int64_t width, std::int64_t rows, std::int64_t columns,
                Store store, T* c, std::ptrdiff_t stride) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const T* from = tile + i * width;
    T* to = c + i * stride;
    if (store == Store::replace) {
      std::copy_n(from, columns, to);
    } else {
      for (std::int64_t j = 0; j < columns; ++j) to[j] += from[j];
    }
  }
}

template <class T>
void multiply_block(const Kernels<T>& kernels, const MatrixView<T>& a, std::int64_t first_step,
                    std::int64_t depth, const T* panel, std::int64_t columns, std::int64_t width,
                    T* c, std::ptrdiff_t stride, Store store) {
  alignas(64) T tile[block_rows * block_columns];
  for (std::int64_t i = 0; i < a.rows; i += block_rows) {
    const auto rows = static_cast<int>(std::min(block_rows, a.rows - i));
    const LeftOperand<T> left{a.data + i * a.row_stride + first_step * a.column_stride,
                              a.row_stride, a.column_stride};
    const RightOperand<T> right{panel, width, false};
    const auto steps = static_cast<int>(depth), wide = static_cast<int>(width);
    if (columns == width) {
      kernels.product(rows, wide, steps, left, right, c + i * stride, stride, store);
    } else {
      kernels.product(rows, wide, steps, left, right, tile, width, Store::replace);
      store_tile(tile, width, rows, columns, store, c + i * stride, stride);
    }
  }
}

}  // namespace

template <class T>
void multiply(const MatrixView<T>& a, const MatrixView<T>& b, T* c, std::ptrdiff_t stride,
              Store store) {
  if (a.columns == 0 && store == Store::replace) {
    for (std::int64_t i = 0; i < a.rows; ++i) std::fill_n(c + i * stride, b.columns, T(0));
  }
  const Kernels<T>& k = kernels<T>();
  alignas(64) T panel[block_depth * block_columns];
  for (std::int64_t j = 0; j < b.columns; j += block_columns) {
    const std::int64_t columns = std::min(block_columns, b.columns - j);
    const std::int64_t width = round_up<std::int64_t>(columns, k.panel);
    for (std::int64_t s = 0; s < a.columns; s += block_depth) {
      const std::int64_t depth = std::min(block_depth, a.columns - s);
      copy_block(b, s, depth, j, columns, width, panel);
      multiply_block(k, a, s, depth, panel, columns, width, c + j, stride,
                     s > 0 ? Store::add : store);
    }
  }
}

template void multiply(const MatrixView<float>&, const MatrixView<float>&, float*, std::ptrdiff_t,
                       Store);
template void multiply(const MatrixView<double>&, const MatrixView<double>&, double*,
                       std::ptrdiff_t, Store);

}  // namespace conelab
