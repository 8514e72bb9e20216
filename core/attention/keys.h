// All keys of one head, placed and packed as tiles: O(n_k) memory, built once per call.
#pragma once

#include <vector>

#include "core/attention/tile.h"

namespace conelab {

template <class T>
class PackedKeys {
 public:
  /// Places keys [n_k × d]; `first` is the index of the first in messages.
  template <class S>
  PackedKeys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, const S* keys,
             std::int64_t count, std::int64_t first = 0);

  [[nodiscard]] int tiles() const {
    return static_cast<int>((count_ + key_tile<T> - 1) / key_tile<T>);
  }
  [[nodiscard]] KeyTile<T> tile(int index) const;

 private:
  std::int64_t count_;
  std::int64_t first_;
  int column_multiple_;
  int base_size_;
  std::ptrdiff_t value_stride_;
  Buffer<T> panels_;
  Buffer<T> values_;
  Buffer<T> norms_;
  std::vector<std::int64_t> bad_;
};

}  // namespace conelab
