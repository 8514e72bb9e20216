#include "core/simd/soft_cap.h"

#include <string_view>

namespace conelab {

#define CONELAB_DECLARE_SOFT_CAP(target)   \
  namespace target {                       \
  template <class T>                       \
  SimilarityKernels<T> soft_cap_kernels(); \
  }
CONELAB_DECLARE_SOFT_CAP(simd_portable)
#if defined(__x86_64__)
CONELAB_DECLARE_SOFT_CAP(simd_avx2)
CONELAB_DECLARE_SOFT_CAP(simd_avx512)
#endif

template <class T>
const SimilarityKernels<T>& soft_cap_kernels(const Kernels<T>& target) {
  static const SimilarityKernels<T> portable = simd_portable::soft_cap_kernels<T>();
#if defined(__x86_64__)
  static const SimilarityKernels<T> avx2 = simd_avx2::soft_cap_kernels<T>();
  static const SimilarityKernels<T> avx512 = simd_avx512::soft_cap_kernels<T>();
  const std::string_view name = target.name;
  if (name == "avx2") return avx2;
  if (name != "portable") return avx512;  // avx512, or amx.
#endif
  return portable;
}
template const SimilarityKernels<float>& soft_cap_kernels(const Kernels<float>&);
template const SimilarityKernels<double>& soft_cap_kernels(const Kernels<double>&);

}  // namespace conelab
