#include "core/simd/bounded_softmax.h"

#include <string_view>

#include "core/simd/kernels.h"

namespace conelab {

#define CONELAB_DECLARE_BOUNDED(target) \
  namespace target {                    \
  template <class T>                    \
  BoundedKernels<T> make_bounded();     \
  }
CONELAB_DECLARE_BOUNDED(simd_portable)
#if defined(__x86_64__)
CONELAB_DECLARE_BOUNDED(simd_avx2)
CONELAB_DECLARE_BOUNDED(simd_avx512)
#endif

template <class T>
BoundedKernels<T> bounded_kernels(const std::string& target) {
  const std::string_view name = kernels<T>(target, 0).name;
#if defined(__x86_64__)
  if (name == "avx2") return simd_avx2::make_bounded<T>();
  if (name != "portable") return simd_avx512::make_bounded<T>();  // avx512, or amx.
#endif
  return simd_portable::make_bounded<T>();
}
template BoundedKernels<float> bounded_kernels(const std::string&);
template BoundedKernels<double> bounded_kernels(const std::string&);

}  // namespace conelab
