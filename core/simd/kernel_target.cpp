// The complete kernel table of this target.
#include "core/simd/kernel_parts.h"
#include "core/similarity/all.h"

namespace conelab::CONELAB_SIMD {

/// Returns the kernels of all similarities, in the order of the list.
template <class T, class... S>
const Tail<T>* tail_table(TypeList<S...>) {
  static const Tail<T> table[] = {tail<S, T>()...};
  return table;
}

template <class T>
Kernels<T> make_kernels(const char* name) {
  Kernels<T> k{};
  k.name = name;
  add_operands(k);
  add_products(k);
  add_tanh_sums(k);
  k.tails = tail_table<T>(Similarities{});
  return k;
}
template Kernels<float> make_kernels(const char*);
template Kernels<double> make_kernels(const char*);

}  // namespace conelab::CONELAB_SIMD
