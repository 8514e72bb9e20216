// What the rows of a block have gathered on the way forward: sums of weights and of weighted values
// under an online softmax.
//
// The reference m of a row is stale on purpose: it begins at 0 where that is near the first tile's
// largest logit, and moves only when a tile's largest logit exceeds it by far, so that sums and
// outputs are almost never rescaled (1-3 % against 3-5 % for moving it with every tile) and no row
// can underflow. The kernels move it, between a row's logits and their exponentials.
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

#include "core/attention/plan.h"
#include "core/base/buffer.h"
#include "core/simd/kernels.h"

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
  /// Of the rows from `row`: -inf until the row has seen a key; 0 of a sigmoid.
  [[nodiscard]] const T* references(int row) const { return references_.data() + row; }

  /// Whether a reference of the tile's rows, the first of which is row `row`, has moved or is to.
  [[nodiscard]] bool any_moved(const WeightTile<T>& tile, int row) const;
  /// Refers what the row has gathered to another reference.
  void move_reference(int row, T reference);
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

  const Kernels<T>* kernels_;
  std::ptrdiff_t stride_;
  bool sharpens_;
  Buffer<T> sums_;  ///< [rows × stride]
  std::vector<double> totals_;
  std::vector<T> references_;
  std::vector<HeavyWeight<T>> apart_;  ///< Of the last tile.
  std::vector<LargeWeight> large_;     ///< Of all rows so far, where weights are sharpened.
  std::vector<int> last_large_;        ///< Per row, an index of `large_`.
  Buffer<T> value_;                    ///< [stride]
};

/// Whether a row's weights are garbage, see WeightTile.
template <class T>
[[nodiscard]] bool is_lost(const WeightTile<T>& tile, int row) {
  return tile.row_maximum[row] > tile.reference[row] + T(stale_limit);
}

}  // namespace conelab
