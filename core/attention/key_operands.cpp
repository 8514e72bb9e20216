#include "core/attention/key_operands.h"

#include "core/attention/aggregate.h"
#include "core/attention/tile_size.h"

namespace conelab {

template <class T>
template <class S>
KeyOperands<T>::KeyOperands(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
                            const S* keys, const S* values, std::int64_t first, int count)
    : panel_(kernels.panel),
      width_(aggregate_width(plan.einstein, plan.extents.value)),
      value_stride_(conelab::value_stride(plan.einstein, plan.extents.value, panel_)),
      packed_(plan, kernels, head, count, first),
      placed_(packed_.pack(plan, kernels, head, keys + first * plan.extents.feature, 0)) {
  static_assert(backward_keys<T> <= forward_keys<T>);  // One tile of packed_.
  const int columns = tile().columns;
  key_panels_.resize(placed_.base.size());
  (void)kernels.split_panels(placed_.base.data(), placed_.stride, columns, key_panels_.data(),
                             columns * panel_);
  Buffer<T> rows(static_cast<std::size_t>(columns * value_stride_), T(0));
  lift_values(plan.einstein, values + first * plan.extents.value, plan.extents.value, first, count,
              value_stride_, rows.data(), bad_values_);
  value_panels_.resize(rows.size());
  kernels.pack_panels(rows.data(), value_stride_, columns, width_, T(1), value_panels_.data());
}

template <class T>
double KeyOperands<T>::value_product(int column, const T* upstream) const {
  const T* values = value_panels_.data() + column / panel_ * panel_ * width_ + column % panel_;
  double sum = 0;
  for (int c = 0; c < width_; ++c) {
    sum += static_cast<double>(upstream[c]) * static_cast<double>(values[c * panel_]);
  }
  return sum;
}

#define CONELAB_KEY_OPERANDS(T, S)                                                               \
  template KeyOperands<T>::KeyOperands(const Plan&, const Kernels<T>&, const Head<T>&, const S*, \
                                       const S*, std::int64_t, int);
template class KeyOperands<float>;
template class KeyOperands<double>;
CONELAB_KEY_OPERANDS(float, float)
CONELAB_KEY_OPERANDS(float, Float16)
CONELAB_KEY_OPERANDS(float, Bfloat16)
CONELAB_KEY_OPERANDS(double, double)

}  // namespace conelab
