// What the rows of a block have gathered on the way forward: sums of weights and of weighted values
// under an online softmax.
//
// What a row has gathered is referred to its reference (row_reference.h), which the kernels move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/simd/row_reference.h"

namespace conelab {

template <class T>
class RowSums {
 public:
  /// Of `rows` rows, each with sums [stride]: of values, and of weights by relative position where
  /// these have values, too (position_values.h).
  RowSums(const Plan& plan, int rows, std::ptrdiff_t stride);

  [[nodiscard]] std::ptrdiff_t stride() const { return stride_; }
  [[nodiscard]] T* sums(int row) { return sums_.data() + row * stride_; }
  [[nodiscard]] const T* sums(int row) const { return sums_.data() + row * stride_; }
  /// The sum of a row's weights.
  [[nodiscard]] double total(int row) const { return totals_[static_cast<std::size_t>(row)]; }
  /// Of the rows from `row`: no_reference until the row has seen a key; 0 of a sigmoid.
  [[nodiscard]] const T* references(int row) const { return references_.data() + row; }

  /// Refers what the tile's rows, the first of which is row `row`, have gathered to where the tile
  /// has moved their references, once weigh_again(r) has weighed those again that are lost.
  template <class Again>
  void settle(const WeightTile<T>& tile, int row, const Again& weigh_again) {
    if (!refers_ || !any_moved(tile, row)) return;
    for (int r = 0; r < tile.score.rows; ++r) {
      if (is_lost(tile.reference[r], tile.row_maximum[r])) weigh_again(r);
      if (tile.reference[r] != *references(row + r)) move_reference(row + r, tile.reference[r]);
    }
  }
  /// Adds the sums of a tile's weights to the totals.
  void add(const WeightTile<T>& tile, int row);

 private:
  /// Whether a reference of the tile's rows has moved, or is to.
  [[nodiscard]] bool any_moved(const WeightTile<T>& tile, int row) const;
  void move_reference(int row, T reference);

  std::ptrdiff_t stride_;
  bool refers_;     ///< Not to be asked of a sigmoid.
  Buffer<T> sums_;  ///< [rows × stride]
  std::vector<double> totals_;
  std::vector<T> references_;
};

}  // namespace conelab
