// A range of one head's keys (in a pass, all of them), placed and packed as tiles. Memory is
// O(n_k).
#pragma once

#include <span>
#include <vector>

#include "core/tiles/tile.h"

namespace conelab {

template <class T>
class PackedKeys {
 public:
  /// Reserves memory for `count` keys, the first of which is key `first` of the head.
  PackedKeys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, std::int64_t count,
             std::int64_t first = 0);

  /// Places and packs the keys of one tile and returns the placed keys. `keys` [count × d] are
  /// those of the whole range. Threads may pack different tiles at the same time.
  template <class S>
  Operand<T> pack(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                  const TokenRows<const S>& keys, int tile);

  [[nodiscard]] int tiles() const { return static_cast<int>(non_finite_.size()); }
  [[nodiscard]] KeyTile<T> tile(int index) const;
  /// Returns the panels of a tile.
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
  std::vector<T> largest_norms_;                       ///< [tiles]
  std::vector<std::vector<std::int64_t>> non_finite_;  ///< [tiles] See KeyTile.

  [[nodiscard]] int keys_of(int tile) const;
  /// Returns the position of a tile's first panel in panels_.
  [[nodiscard]] std::ptrdiff_t panels_at(int tile) const;
};

}  // namespace conelab
