// One tile of keys and values as operands of the backward pass's products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/tiles/head.h"
#include "core/tiles/keys.h"
#include "core/tiles/tile.h"

namespace conelab {

template <class T>
class KeyOperands {
 public:
  /// At most backward_keys keys from key `first` of a head, of its keys [n_k × d] and values [n_k ×
  /// d_v] of any stored type whose Compute is T.
  template <class S>
  KeyOperands(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, const S* keys,
              const S* values, std::int64_t first, int count);
  /// What the measures take.
  [[nodiscard]] KeyTile<T> tile() const {
    KeyTile<T> tile = packed_.tile(0);
    tile.base = base();
    return tile;
  }
  /// The placed keys, [columns × base_stride].
  [[nodiscard]] const T* base() const { return placed_.base.data(); }
  [[nodiscard]] std::ptrdiff_t base_stride() const { return placed_.stride; }
  /// Numbers of a lifted value (aggregate.h), and the same in whole panels.
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] std::ptrdiff_t value_stride() const { return value_stride_; }
  /// Values [width × columns], for dO V^T, and placed keys [columns × base_stride], for W K.
  [[nodiscard]] RightOperand<T> values() const {
    return {value_panels_.data(), kernels_->packed_size(width_), true};
  }
  [[nodiscard]] RightOperand<T> keys() const {
    return {key_panels_.data(), kernels_->packed_size(tile().columns), true};
  }
  /// Keys of the head, ascending, whose values are not finite; their panels hold 0.
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
