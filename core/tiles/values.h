// The values of one head, packed as panels in the same tiles as its keys (keys.h).
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

/// Up to a limit, the panels of all tiles are kept. Beyond it, every block of queries packs the
/// tiles again, which takes a little more time but no memory.
template <class S>
class PackedValues {
  using T = Compute<S>;

 public:
  /// `head` is batch * heads + head.
  PackedValues(const Plan& plan, const Kernels<T>& kernels, const AttentionInput<S>& input,
               std::int64_t head);

  /// Returns the leading dimension of extended values (aggregate.h).
  [[nodiscard]] std::ptrdiff_t stride() const { return stride_; }
  /// Reads the values of one tile of forward_keys keys. Threads may pack different tiles at the
  /// same time.
  void pack(int tile);
  /// Returns a tile's panels, packed_size(forward_keys) numbers each. If they are not kept, they
  /// are packed into `room`.
  [[nodiscard]] const T* panels(int tile, Buffer<T>& room) const;
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
  std::ptrdiff_t stride_;
  Buffer<T> kept_;  ///< The panels of all tiles, or empty.
  std::vector<std::vector<std::int64_t>> non_finite_;

  [[nodiscard]] std::size_t panel_numbers() const;
  [[nodiscard]] int keys_of(int tile) const;
  void load(int tile, T* panels, std::vector<std::int64_t>& non_finite) const;
};

}  // namespace conelab
