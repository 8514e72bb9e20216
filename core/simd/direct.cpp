#include "core/simd/direct.h"

#include <string_view>

#include "core/simd/kernels.h"

namespace conelab {

#define CONELAB_DECLARE_DIRECT(target) \
  namespace target {                   \
  template <class T>                   \
  const DirectKernels<T>& direct();    \
  }
CONELAB_DECLARE_DIRECT(simd_portable)
#if defined(__x86_64__)
CONELAB_DECLARE_DIRECT(simd_avx2)
CONELAB_DECLARE_DIRECT(simd_avx512)
#endif

template <class T>
const DirectKernels<T>& direct_kernels(const std::string& target) {
  const std::string_view name = kernels<T>(target, 0).name;
#if defined(__x86_64__)
  if (name == "avx2") return simd_avx2::direct<T>();
  if (name != "portable") return simd_avx512::direct<T>();  // avx512, or amx.
#endif
  return simd_portable::direct<T>();
}
template const DirectKernels<float>& direct_kernels(const std::string&);
template const DirectKernels<double>& direct_kernels(const std::string&);

}  // namespace conelab
