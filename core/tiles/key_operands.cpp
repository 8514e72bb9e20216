#include "core/tiles/key_operands.h"

#include "core/tiles/aggregate.h"
#include "core/tiles/tile_size.h"

namespace conelab {

template <class T>
template <class S>
KeyOperands<T>::KeyOperands(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                            const TokenRows<const S>& keys, const TokenRows<const S>& values,
                            std::int64_t first, int count)
    : kernels_(&kernels),
      width_(aggregate_width(plan.aggregate, plan.extents.value)),
      value_stride_(conelab::value_stride(plan.aggregate, plan.extents.value, kernels.panel)),
      packed_(plan, kernels, head, count, first),
      placed_(packed_.pack(plan, kernels, head, keys.part(first, count), 0)) {
  static_assert(backward_keys<T> <= forward_keys<T>);  // All keys are in one tile of packed_.
  const int columns = tile().columns;
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
