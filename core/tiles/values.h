// The values of one head, packed as panels in the same tiles as its keys (packed_keys.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/tensor.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/simd/narrow.h"
#include "core/simd/row_reference.h"

namespace conelab {

/// Returns whether values have so few dimensions that panels would be mostly padding.
[[nodiscard]] constexpr bool are_narrow(int size, int panel) {
  return size <= most_narrow && size % panel != 0;
}

/// Up to a limit, the panels of all tiles are kept. Beyond it, every block of queries packs the
/// tiles again, which takes a little more time but no memory.
template <class S>
class PackedValues {
  using T = Compute<S>;

 public:
  /// `head` is batch * heads + head. No panels are kept if `keeps` is false.
  PackedValues(const Plan& plan, const Kernels<T>& kernels, const AttentionInput<S>& input,
               std::int64_t head, bool keeps = true);

  /// Returns the leading dimension of extended values (aggregate.h).
  [[nodiscard]] std::ptrdiff_t stride() const { return stride_; }
  /// Returns whether the values have so few dimensions that a tile holds them transposed, [size ×
  /// narrow_stride], with zeros behind the last key of whole packs, in place of panels.
  [[nodiscard]] bool is_narrow() const { return are_narrow(size_, kernels_->panel); }
  [[nodiscard]] std::ptrdiff_t narrow_stride() const { return narrow_stride_; }
  /// Returns the size of an extended value.
  [[nodiscard]] int size() const { return size_; }
  /// Reads the values of one tile of forward_keys keys. Threads may pack different tiles at the
  /// same time.
  void pack(int tile);
  /// Returns a tile's panels. If they are not kept, they are packed into `room`, and the keys whose
  /// values are not finite are added to `non_finite`.
  [[nodiscard]] RightOperand<T> panels(int tile, Buffer<T>& room,
                                       std::vector<std::int64_t>& non_finite) const;
  /// Returns a tile's values as they lie in memory, which may not be finite, if they need no
  /// extension and are of type T.
  [[nodiscard]] std::optional<RightOperand<T>> as_they_are(int tile) const;
  /// Returns a tile's extended values row by row in `room`. The values must not be narrow. Adds the
  /// keys whose values are not finite to `non_finite`.
  [[nodiscard]] RightOperand<T> extended(int tile, Buffer<T>& room,
                                         std::vector<std::int64_t>& non_finite) const;
  /// Returns the memory that `panels` will read, for prefetching. It is empty if other memory lies
  /// between the values.
  [[nodiscard]] std::span<const std::byte> source(int tile) const;
  /// Returns the keys whose values are not finite, ascending, once all tiles are packed. Their
  /// panels hold 0 for the numbers that are not finite.
  [[nodiscard]] std::vector<std::int64_t> non_finite() const;

 private:
  const Plan* plan_;
  const Kernels<T>* kernels_;
  std::int64_t head_;
  TokenRows<const S> values_;
  int size_;
  std::ptrdiff_t stride_, narrow_stride_;
  Buffer<T> kept_;  ///< The panels of all tiles, or empty.
  std::vector<std::vector<std::int64_t>> non_finite_;

  [[nodiscard]] std::size_t panel_numbers() const;
  [[nodiscard]] int keys_of(int tile) const;
  void load(int tile, T* panels, std::vector<std::int64_t>& non_finite) const;
};

// The values v_j of one head that are not finite. The products use 0 in their place, because a
// weight of 0 times NaN must not reach rows that do not see the value. Afterwards they are added to
// the rows that do.

template <class S>
class NonFiniteValues {
  using T = Compute<S>;

 public:
  NonFiniteValues() = default;
  /// `keys` (ascending) are those whose values [n_k × d_v] are not finite.
  NonFiniteValues(Aggregate aggregate, const TokenRows<const S>& values,
                  std::vector<std::int64_t> keys);

  /// Adds the numbers that are not finite, of the keys that the query sees, to its output [d_v].
  /// `element` is batch * heads + head.
  void add_seen(const Mask& mask, std::int64_t element, std::int64_t query, S* output) const;

 private:
  Aggregate aggregate_ = Aggregate::mean;
  TokenRows<const S> values_;
  std::vector<std::int64_t> keys_;
  std::vector<T> sums_;  ///< [d_v] Sums over all keys, for rows that see all of them.

  /// Adds the numbers of a value that are not finite to sums [d_v]. For the midpoint all become
  /// NaN.
  void add(std::int64_t key, T* sums) const;
};

// Running sums of the rows of a block in the forward pass: of weights and of weighted values, as in
// an online softmax. The sums of a row are relative to its reference (row_reference.h), which the
// kernels move.

template <class T>
class RowSums {
 public:
  /// Each of `rows` rows has sums [stride]: of extended values, followed by the weights summed by
  /// relative position if a bias adds values (head_bias.h).
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
  /// Adds the sums of the same rows over other keys, whose references may move.
  void join(RowSums& other);

 private:
  /// Returns whether the reference of any of the tile's rows has moved or is lost.
  [[nodiscard]] bool any_moved(const WeightTile<T>& tile, int row) const;
  void move_reference(int row, T reference);

  std::ptrdiff_t stride_;
  Buffer<T> sums_;  ///< [rows × stride]
  std::vector<double> totals_;
  std::vector<T> references_;
};

/// Sets the results of a query from the sums of its row: of the values, and of the weights, which
/// are relative to `reference`. `head` is batch * heads + head, `sink` its Plan::sink.
template <class S>
void finish_sums(const Plan& plan, const Compute<S>* sums, double total, Compute<S> reference,
                 std::int64_t head, std::int64_t query, double sink, Forward<S>& result);

}  // namespace conelab
