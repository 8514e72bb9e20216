// The complete kernel table of this target.
#include "core/simd/kernel_parts.h"

namespace conelab::CONELAB_SIMD {

template <>
void add_tails(Kernels<float>& kernels);
template <>
void add_tails(Kernels<double>& kernels);

template <class T>
Kernels<T> make_kernels(const char* name) {
  Kernels<T> k{};
  k.name = name;
  add_operands(k);
  add_products(k);
  add_tails(k);
  return k;
}
template Kernels<float> make_kernels(const char*);
template Kernels<double> make_kernels(const char*);

}  // namespace conelab::CONELAB_SIMD
