// A head's values as panels of tiles, beside its keys (keys.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/tensor.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"

namespace conelab {

/// Few values are packed once and for all; of many, every block of queries packs the tile that it
/// is at again, which costs 3 % more time and no memory.
template <class S>
class PackedValues {
  using T = Compute<S>;

 public:
  PackedValues(const Plan& plan, const Kernels<T>& kernels, const Tensor4<S>& values,
               std::int64_t batch, std::int64_t head);

  /// Numbers of a lifted value (aggregate.h), in whole panels.
  [[nodiscard]] std::ptrdiff_t stride() const { return stride_; }
  /// Reads the values of one tile of forward_keys. Different tiles may be packed at once.
  void pack(int tile);
  /// A tile's packed panels, packed_size(forward_keys) apart, in `room` where they are not kept.
  [[nodiscard]] const T* panels(int tile, Buffer<T>& room) const;
  /// What `panels` is going to read.
  [[nodiscard]] std::span<const std::byte> source(int tile) const;
  /// The keys whose values are not finite, ascending, once all tiles are packed; their panels hold
  /// 0.
  [[nodiscard]] std::vector<std::int64_t> non_finite() const;

 private:
  const Plan* plan_;
  const Kernels<T>* kernels_;
  const Tensor4<S>* values_;
  std::int64_t batch_, head_;
  std::ptrdiff_t stride_;
  Buffer<T> kept_;  ///< All panels, or empty.
  std::vector<std::vector<std::int64_t>> non_finite_;

  [[nodiscard]] std::size_t panel_numbers() const;
  [[nodiscard]] int keys_of(int tile) const;
  void load(int tile, T* panels, std::vector<std::int64_t>& non_finite) const;
};

}  // namespace conelab
