// Running sums of the rows of a block in the forward pass: of weights and of weighted values, as in
// an online softmax. The sums of a row are relative to its reference (row_reference.h), which the
// kernels move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/simd/kernels.h"
#include "core/simd/row_reference.h"

namespace conelab {

template <class T>
class RowSums {
 public:
  /// Each of `rows` rows has sums [stride]: of extended values, followed by the weights summed by
  /// relative position if a bias adds values (position_values.h).
  RowSums(int rows, std::ptrdiff_t stride);

  [[nodiscard]] std::ptrdiff_t stride() const { return stride_; }
  [[nodiscard]] T* sums(int row) { return sums_.data() + row * stride_; }
  [[nodiscard]] const T* sums(int row) const { return sums_.data() + row * stride_; }
  /// Returns the sum of a row's weights.
  [[nodiscard]] double total(int row) const { return totals_[static_cast<std::size_t>(row)]; }
  /// Returns the references of the rows from `row` on: no_reference until the row has seen a key.
  [[nodiscard]] const T* references(int row) const { return references_.data() + row; }

  /// Rescales the sums of the tile's rows to the references that the kernel has moved. `row` is the
  /// first of these rows. Calls weigh_again(r) before that for each row whose weights are lost.
  template <class Again>
  void settle(const WeightTile<T>& tile, int row, const Again& weigh_again) {
    if (!any_moved(tile, row)) return;
    for (int r = 0; r < tile.score.rows; ++r) {
      if (is_lost(tile.reference[r], tile.row_maximum[r])) weigh_again(r);
      if (tile.reference[r] != *references(row + r)) move_reference(row + r, tile.reference[r]);
    }
  }
  /// Adds the sums of a tile's weights to the totals.
  void add(const WeightTile<T>& tile, int row);

 private:
  /// Returns whether the reference of any of the tile's rows has moved or is lost.
  [[nodiscard]] bool any_moved(const WeightTile<T>& tile, int row) const;
  void move_reference(int row, T reference);

  std::ptrdiff_t stride_;
  Buffer<T> sums_;  ///< [rows × stride]
  std::vector<double> totals_;
  std::vector<T> references_;
};

}  // namespace conelab
