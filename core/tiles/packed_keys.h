// A range of one head's keys, placed and packed as tiles: all keys of a pass, which takes memory of
// O(n_k), or one tile after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/tiles/head.h"
#include "core/tiles/tile.h"
#include "core/tiles/tile_size.h"

namespace conelab {

template <class T>
class PackedKeys {
 public:
  /// Takes `count` keys, the first of which is key `first` of the head. Reserves memory for all
  /// of them or, if `keeps_all` is false, for the tile that was packed last.
  PackedKeys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, std::int64_t count,
             std::int64_t first = 0, bool keeps_all = true);

  /// Places and packs the keys of one tile. `keys` [count × d] are those of the whole range.
  /// Threads may pack different tiles at the same time.
  template <class S>
  void pack(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
            const TokenRows<const S>& keys, int tile);
  /// Packs `columns` placed keys, which do not lie, as those of a tile from its key `begin` on.
  void pack_placed(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                   const Operand<T>& placed, int tile, int begin, int columns);

  [[nodiscard]] int tiles() const { return static_cast<int>(non_finite_.size()); }
  [[nodiscard]] KeyTile<T> tile(int index) const;
  /// Returns the panels of a tile.
  [[nodiscard]] std::span<const T> panels(int tile) const;

 private:
  std::int64_t count_;
  std::int64_t first_;
  bool keeps_all_;
  bool narrow_;
  int column_multiple_;
  int panel_;
  std::ptrdiff_t panel_size_;
  std::ptrdiff_t value_stride_;
  Buffer<T> panels_;
  Buffer<T> values_;
  Buffer<T> norms_;
  Buffer<T> factors_;                                  ///< Empty unless keys are used as they lie.
  std::vector<LyingTokens<T>> lying_;                  ///< [tiles] See KeyTile.
  std::vector<T> largest_norms_;                       ///< [tiles]
  std::vector<std::vector<std::int64_t>> non_finite_;  ///< [tiles] See KeyTile.

  [[nodiscard]] int keys_of(int tile) const;
  /// Keeps the numbers of `columns` placed keys besides their base coordinates.
  void keep(const Plan& plan, const Operand<T>& placed, int tile, int begin, int columns);
  /// Returns the position of a tile's first key in values_ and norms_.
  [[nodiscard]] std::int64_t place_of(int tile) const {
    return keeps_all_ ? static_cast<std::int64_t>(tile) * forward_keys<T> : 0;
  }
  /// Returns the position of a tile's first panel in panels_.
  [[nodiscard]] std::ptrdiff_t panels_at(int tile) const {
    return place_of(tile) / panel_ * panel_size_;
  }
};

// A tile of keys and values as operands of the products of the backward pass.

template <class T>
class KeyOperands {
 public:
  /// Takes at most backward_keys keys of a head, from key `first` on, out of all its keys [n_k × d]
  /// and values [n_k × d_v]. They may have any stored type whose Compute is T.
  template <class S>
  KeyOperands(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
              const TokenRows<const S>& keys, const TokenRows<const S>& values, std::int64_t first,
              int count);
  /// Returns the operands of the measures.
  [[nodiscard]] KeyTile<T> tile() const {
    KeyTile<T> tile = packed_.tile(0);
    tile.base = base();
    return tile;
  }
  /// Returns the placed keys [columns × base_stride].
  [[nodiscard]] const T* base() const { return placed_.base.data(); }
  [[nodiscard]] std::ptrdiff_t base_stride() const { return placed_.stride; }
  /// Return the size of an extended value (aggregate.h), and their leading dimension.
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] std::ptrdiff_t value_stride() const { return value_stride_; }
  /// Return the packed values [width × columns] for dO V^T, and the packed keys [columns ×
  /// base_stride] for W K, from column `first` of the tile on, a multiple of column_multiple.
  [[nodiscard]] RightOperand<T> values(std::ptrdiff_t first) const {
    const std::ptrdiff_t panel = kernels_->packed_size(width_);
    return {value_panels_.data() + first / kernels_->panel * panel, panel, true};
  }
  [[nodiscard]] RightOperand<T> keys(std::ptrdiff_t first) const {
    return {key_panels_.data() + kernels_->packed_size(static_cast<int>(first)),
            kernels_->packed_size(tile().columns), true};
  }
  /// Returns the keys whose values are not finite, in ascending order. Their packed values are 0.
  [[nodiscard]] const std::vector<std::int64_t>& non_finite_values() const {
    return non_finite_values_;
  }

 private:
  const Kernels<T>* kernels_;
  int width_;
  std::ptrdiff_t value_stride_;
  PackedKeys<T> packed_;
  Operand<T> placed_;
  Buffer<T> key_panels_, value_panels_;
  std::vector<std::int64_t> non_finite_values_;
};

}  // namespace conelab
