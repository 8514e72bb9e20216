#include "core/tiles/packed_keys.h"

#include <algorithm>

#include "core/tiles/aggregate.h"

namespace conelab {
namespace {

/// Keys that are placed and packed together, so that they stay in the first-level cache. It is a
/// multiple of every panel.
constexpr int keys_together = 32;

}  // namespace

template <class T>
PackedKeys<T>::PackedKeys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                          std::int64_t count, std::int64_t first, bool keeps_all)
    : count_(count),
      first_(first),
      keeps_all_(keeps_all),
      narrow_(is_narrow(plan, kernels, head)),
      column_multiple_(kernels.column_multiple),
      panel_(kernels.panel),
      panel_size_(kernels.packed_size(head.base_size())),
      value_stride_(round_up<std::int64_t>(
          keeps_all ? count : std::min<std::int64_t>(count, forward_keys<T>), column_multiple_)),
      non_finite_(static_cast<std::size_t>((count + forward_keys<T> - 1) / forward_keys<T>)) {
  const auto padded = static_cast<std::size_t>(value_stride_);
  if (head.uses_lying_keys()) {
    factors_.resize(padded);
  } else {
    panels_.resize(static_cast<std::size_t>(value_stride_ / panel_ * panel_size_));
  }
  lying_.resize(non_finite_.size());
  values_.resize(padded * static_cast<std::size_t>(std::max(1, plan.similarity->values)));
  norms_.resize(padded);
  largest_norms_.resize(non_finite_.size());
}

template <class T>
int PackedKeys<T>::keys_of(int tile) const {
  return static_cast<int>(std::min<std::int64_t>(forward_keys<T>, count_ - tile * forward_keys<T>));
}

template <class T>
std::span<const T> PackedKeys<T>::panels(int tile) const {
  const std::ptrdiff_t count = round_up(keys_of(tile), column_multiple_) / panel_;
  return std::span(panels_).subspan(static_cast<std::size_t>(panels_at(tile)),
                                    static_cast<std::size_t>(count * panel_size_));
}

template <class T>
template <class S>
void PackedKeys<T>::pack(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                         const TokenRows<const S>& keys, int tile) {
  const std::int64_t tile_begin = static_cast<std::int64_t>(tile) * forward_keys<T>;
  const int count = keys_of(tile), columns = round_up(count, column_multiple_);
  Operand<T> placed;
  if constexpr (std::is_same_v<S, T>) {
    if (head.uses_lying_keys()) {
      const TokenRows<const T> rows = keys.part(tile_begin, count);
      lying_[static_cast<std::size_t>(tile)] = {rows.data, rows.stride, count, head.base_size()};
      head.place_lying(rows, columns, first_ + tile_begin, placed);
      std::ranges::copy(placed.factors, factors_.begin() + place_of(tile));
      return keep(plan, placed, tile, 0, columns);
    }
  }
  for (int begin = 0; begin < count; begin += keys_together) {
    const TokenRows<const S> rows =
        keys.part(tile_begin + begin, std::min(keys_together, count - begin));
    if constexpr (std::is_same_v<S, T>) {
      if (rows.count == keys_together && head.places_as_is(rows)) {
        kernels.pack_panels(rows.data, rows.stride, keys_together, head.base_size(), T(1),
                            panels_.data() + panels_at(tile) + begin / panel_ * panel_size_);
        continue;
      }
    }
    const int capacity = begin + keys_together < count ? keys_together : columns - begin;
    head.place(rows, capacity, "k", first_ + tile_begin + begin, kernels.panel, placed);
    pack_placed(plan, kernels, head, placed, tile, begin, capacity);
  }
}

template <class T>
void PackedKeys<T>::pack_placed(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                                const Operand<T>& placed, int tile, int begin, int columns) {
  pack_keys(plan, kernels, head, placed, 0, columns, narrow_,
            panels_.data() + panels_at(tile) + begin / panel_ * panel_size_);
  keep(plan, placed, tile, begin, columns);
}

template <class T>
void PackedKeys<T>::keep(const Plan& plan, const Operand<T>& placed, int tile, int begin,
                         int columns) {
  const std::int64_t at = place_of(tile) + begin;
  for (int v = 0; v < plan.similarity->values; ++v) {
    std::copy_n(placed.values.begin() + v * placed.value_stride, columns,
                values_.begin() + v * value_stride_ + at);
  }
  std::copy_n(placed.norms.begin(), columns, norms_.begin() + at);
  T& largest = largest_norms_[static_cast<std::size_t>(tile)];
  largest = std::max(largest, placed.largest_norm());
  const std::int64_t first = first_ + static_cast<std::int64_t>(tile) * forward_keys<T> + begin;
  for (const std::int64_t i : placed.non_finite) {
    non_finite_[static_cast<std::size_t>(tile)].push_back(first + i);
  }
}

template <class T>
KeyTile<T> PackedKeys<T>::tile(int index) const {
  const std::int64_t at = place_of(index);
  const bool lies = !factors_.empty();
  return {lies ? nullptr : panels_.data() + panels_at(index),
          values_.data() + at,
          value_stride_,
          norms_.data() + at,
          largest_norms_[static_cast<std::size_t>(index)],
          first_ + static_cast<std::int64_t>(index) * forward_keys<T>,
          keys_of(index),
          round_up(keys_of(index), column_multiple_),
          &non_finite_[static_cast<std::size_t>(index)],
          nullptr,
          narrow_,
          lying_[static_cast<std::size_t>(index)],
          lies ? factors_.data() + at : nullptr};
}

#define CONELAB_PACKED_KEYS(T, S)                                                   \
  template void PackedKeys<T>::pack(const Plan&, const Kernels<T>&, const Head<T>&, \
                                    const TokenRows<const S>&, int);
template class PackedKeys<float>;
template class PackedKeys<double>;
CONELAB_PACKED_KEYS(float, float)
CONELAB_PACKED_KEYS(float, Float16)
CONELAB_PACKED_KEYS(float, Bfloat16)
CONELAB_PACKED_KEYS(double, double)

template <class T>
template <class S>
KeyOperands<T>::KeyOperands(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                            const TokenRows<const S>& keys, const TokenRows<const S>& values,
                            std::int64_t first, int count)
    : kernels_(&kernels),
      width_(aggregate_width(plan.aggregate, plan.extents.value)),
      value_stride_(conelab::value_stride(plan.aggregate, plan.extents.value, kernels.panel)),
      packed_(plan, kernels, head, count, first) {
  static_assert(backward_keys<T> <= forward_keys<T>);  // All keys are in one tile of packed_.
  const int columns = packed_.tile(0).columns;
  head.place(keys.part(first, count), columns, "k", first, kernels.panel, placed_);
  if (head.uses_lying_keys()) {
    packed_.pack(plan, kernels, head, keys.part(first, count), 0);
  } else {
    packed_.pack_placed(plan, kernels, head, placed_, 0, 0, columns);
  }
  const auto panels = [&](std::ptrdiff_t wide, std::ptrdiff_t deep) {
    return static_cast<std::size_t>(wide / kernels.panel * kernels.packed_size(deep));
  };
  key_panels_.resize(panels(placed_.stride, columns));
  (void)kernels.split_panels(placed_.base.data(), placed_.stride, columns, key_panels_.data(),
                             kernels.packed_size(columns));
  Buffer<T> rows(static_cast<std::size_t>(columns * value_stride_), T(0));
  extend_values(plan, head.index(), values.part(first, count), first, value_stride_, rows.data(),
                non_finite_values_);
  value_panels_.resize(panels(columns, width_));
  kernels.pack_panels(rows.data(), value_stride_, columns, width_, T(1), value_panels_.data());
}

#define CONELAB_KEY_OPERANDS(T, S)                                                           \
  template KeyOperands<T>::KeyOperands(const Plan&, const Kernels<T>&, const Head<T>&,       \
                                       const TokenRows<const S>&, const TokenRows<const S>&, \
                                       std::int64_t, int);
template class KeyOperands<float>;
template class KeyOperands<double>;
CONELAB_KEY_OPERANDS(float, float)
CONELAB_KEY_OPERANDS(float, Float16)
CONELAB_KEY_OPERANDS(float, Bfloat16)
CONELAB_KEY_OPERANDS(double, double)

}  // namespace conelab
