// What the rows of a block have gathered on the way forward: sums of weights and of weighted values
// under an online softmax.
//
// What a row has gathered is referred to its reference (row_reference.h), which the kernels move.
//
// Weights that are large beside their row's sum leave the tile and are added by themselves. Small
// terms added to a large one in a register round at the large one's magnitude, each of them: a row
// that one key dominates would err five times as much. They are remembered, for some of them come
// to decide about their row, exact.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/simd/row_reference.h"

namespace conelab {

template <class T>
class RowSums {
 public:
  /// Of `rows` rows, each with sums [stride].
  RowSums(const Plan& plan, const Kernels<T>& kernels, int rows, std::ptrdiff_t stride);

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
  /// Adds the weights of a tile to the totals, and takes the large ones out of it.
  void set_apart(const WeightTile<T>& tile, int row);
  /// Adds the weights taken out last, times their values: step c of `panels` (PackedValues) is that
  /// of key first_key + c, column c of the tile.
  void add_apart(const WeightTile<T>& tile, int row, const T* panels, std::int64_t first_key);
  /// Sharpens the decisive weights of a row, exact.h, from its exact logits; value(key, out
  /// [stride]) is what a key's weight belongs to.
  void sharpen(int row, const std::function<double(std::int64_t key)>& logit,
               const std::function<void(std::int64_t key, T* out)>& value);

 private:
  /// A weight that may come to decide about its row.
  struct LargeWeight {
    T weight, reference;
    std::int64_t key;
    int before;  ///< The row's one before, or none.
  };
  static constexpr int none = -1;

  /// Whether a reference of the tile's rows has moved, or is to.
  [[nodiscard]] bool any_moved(const WeightTile<T>& tile, int row) const;
  void move_reference(int row, T reference);

  const Kernels<T>* kernels_;
  std::ptrdiff_t stride_;
  bool refers_;  ///< Not to be asked of a sigmoid.
  bool sharpens_;
  Buffer<T> sums_;  ///< [rows × stride]
  std::vector<double> totals_;
  std::vector<T> references_;
  std::vector<HeavyWeight<T>> apart_;  ///< Of the last tile.
  std::vector<LargeWeight> large_;     ///< Of all rows so far, where weights are sharpened.
  std::vector<int> last_large_;        ///< Per row, an index of `large_`.
  Buffer<T> value_;                    ///< [stride]
};

}  // namespace conelab
