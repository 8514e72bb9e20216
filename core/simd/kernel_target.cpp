// The complete kernel table of this target.
#include "core/simd/kernel_parts.h"
#include "core/similarity/all.h"

namespace conelab::CONELAB_SIMD {

/// Returns the kernels of all similarities, in the order of the list.
template <class T, class... S>
const SimilarityKernels<T>* table_of_similarities(TypeList<S...>) {
  static const SimilarityKernels<T> table[] = {kernels_of<S, T>()...};
  return table;
}

template <class T>
Kernels<T> make_kernels(const char* name) {
  Kernels<T> k{};
  k.name = name;
  add_operands(k);
  add_products(k);
  add_tanh_sums(k);
  k.similarities = table_of_similarities<T>(Similarities{});
  return k;
}
template Kernels<float> make_kernels(const char*);
template Kernels<double> make_kernels(const char*);

}  // namespace conelab::CONELAB_SIMD
