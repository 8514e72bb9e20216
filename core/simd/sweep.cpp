#include "core/simd/sweep.h"

#include <string_view>

#include "core/simd/kernels.h"

namespace conelab {

#define CONELAB_DECLARE_SWEEP(target) \
  namespace target {                  \
  template <class T>                  \
  SweepKernels<T> make_sweep();       \
  }
CONELAB_DECLARE_SWEEP(simd_portable)
#if defined(__x86_64__)
CONELAB_DECLARE_SWEEP(simd_avx2)
CONELAB_DECLARE_SWEEP(simd_avx512)
#endif

template <class T>
SweepKernels<T> sweep_kernels(const std::string& target) {
  const std::string_view name = kernels<T>(target, 0).name;
#if defined(__x86_64__)
  if (name == "avx2") return simd_avx2::make_sweep<T>();
  if (name != "portable") return simd_avx512::make_sweep<T>();  // avx512, or amx.
#endif
  return simd_portable::make_sweep<T>();
}
template SweepKernels<float> sweep_kernels(const std::string&);
template SweepKernels<double> sweep_kernels(const std::string&);

}  // namespace conelab
