// A tile of keys and values as operands of the products of the backward pass.
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
  /// base_stride] for W K.
  [[nodiscard]] RightOperand<T> values() const {
    return {value_panels_.data(), kernels_->packed_size(width_), true};
  }
  [[nodiscard]] RightOperand<T> keys() const {
    return {key_panels_.data(), kernels_->packed_size(tile().columns), true};
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
