#include "core/attention/keys.h"

#include <algorithm>

namespace conelab {

template <class T>
template <class S>
PackedKeys<T>::PackedKeys(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                          const S* keys, std::int64_t count, std::int64_t first)
    : count_(count),
      first_(first),
      column_multiple_(kernels.column_multiple),
      base_size_(head.base_size()),
      value_stride_(round_up<std::int64_t>(count, kernels.column_multiple)) {
  const auto padded = static_cast<std::size_t>(value_stride_);
  const int values = plan.similarity->values;
  panels_.resize(padded * static_cast<std::size_t>(base_size_));
  values_.resize(padded * static_cast<std::size_t>(std::max(1, values)));
  norms_.resize(padded);
  Operand<T> placed;
  for (std::int64_t begin = 0; begin < count; begin += key_tile<T>) {
    const auto in_tile = std::min<std::int64_t>(key_tile<T>, count - begin);
    const auto columns = static_cast<int>(round_up<std::int64_t>(in_tile, column_multiple_));
    head.place(keys + begin * plan.extents.feature, in_tile, columns, "k", first + begin,
               kernels.panel, placed);
    pack_keys(plan, kernels, head, placed, 0, columns, panels_.data() + begin * base_size_);
    for (int v = 0; v < values; ++v) {
      std::copy_n(placed.values.begin() + v * placed.value_stride, columns,
                  values_.begin() + v * value_stride_ + begin);
    }
    std::copy_n(placed.norms.begin(), columns, norms_.begin() + begin);
    for (const std::int64_t i : placed.bad) bad_.push_back(first + begin + i);
  }
}

template <class T>
KeyTile<T> PackedKeys<T>::tile(int index) const {
  const std::int64_t begin = static_cast<std::int64_t>(index) * key_tile<T>;
  const auto count = static_cast<int>(std::min<std::int64_t>(key_tile<T>, count_ - begin));
  return {panels_.data() + begin * base_size_,
          values_.data() + begin,
          value_stride_,
          norms_.data() + begin,
          first_ + begin,
          count,
          round_up(count, column_multiple_),
          &bad_};
}

#define CONELAB_PACKED_KEYS(T, S)                                                              \
  template PackedKeys<T>::PackedKeys(const Plan&, const Kernels<T>&, const Head<T>&, const S*, \
                                     std::int64_t, std::int64_t);
template class PackedKeys<float>;
template class PackedKeys<double>;
CONELAB_PACKED_KEYS(float, float)
CONELAB_PACKED_KEYS(float, Float16)
CONELAB_PACKED_KEYS(float, Bfloat16)
CONELAB_PACKED_KEYS(double, double)

}  // namespace conelab
