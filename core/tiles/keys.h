// A range of one head's keys, in a pass all of them, placed and packed as tiles: O(n_k) memory.
#pragma once

#include <span>
#include <vector>

#include "core/tiles/tile.h"

namespace conelab {

template <class T>
class PackedKeys {
 public:
  /// Room for keys [n_k × d], the first of which is key `first` of the head.
  PackedKeys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, std::int64_t count,
             std::int64_t first = 0);

  /// Places the keys of one tile, of all keys [n_k × d], and returns their places. Different tiles
  /// may be packed at once.
  template <class S>
  Operand<T> pack(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, const S* keys,
                  int tile);

  [[nodiscard]] int tiles() const { return static_cast<int>(non_finite_.size()); }
  [[nodiscard]] KeyTile<T> tile(int index) const;
  /// A tile's panels.
  [[nodiscard]] std::span<const T> panels(int tile) const;

 private:
  std::int64_t count_;
  std::int64_t first_;
  int column_multiple_;
  int panel_;
  std::ptrdiff_t panel_size_;
  std::ptrdiff_t value_stride_;
  Buffer<T> panels_;
  Buffer<T> values_;
  Buffer<T> norms_;
  std::vector<T> largest_norms_;                       ///< Per tile.
  std::vector<std::vector<std::int64_t>> non_finite_;  ///< Per tile, see KeyTile.

  [[nodiscard]] int keys_of(int tile) const;
  /// Where a tile's panels begin.
  [[nodiscard]] std::ptrdiff_t panels_at(int tile) const;
};

}  // namespace conelab
