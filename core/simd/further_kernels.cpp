// The tables of kernels besides that of kernels.h, each by its target.
#include <string_view>

#include "core/simd/bounded_softmax.h"
#include "core/simd/narrow.h"
#include "core/simd/soft_cap.h"
#include "core/simd/token_rows.h"

namespace conelab {

#define CONELAB_DECLARE_FURTHER(target)    \
  namespace target {                       \
  template <class T>                       \
  BoundedKernels<T> make_bounded();        \
  template <class T>                       \
  NarrowKernels<T> make_narrow();          \
  template <class T>                       \
  RowKernels<T> make_rows();               \
  template <class T>                       \
  SimilarityKernels<T> soft_cap_kernels(); \
  }
CONELAB_DECLARE_FURTHER(simd_portable)
#if defined(__x86_64__)
CONELAB_DECLARE_FURTHER(simd_avx2)
CONELAB_DECLARE_FURTHER(simd_avx512)
#endif

namespace {

template <class T>
struct FurtherKernels {
  BoundedKernels<T> bounded;
  NarrowKernels<T> narrow;
  RowKernels<T> rows;
  SimilarityKernels<T> soft_cap;
};

/// Makes only the table of this target: another one may be made with instructions that the machine
/// does not have.
template <class T>
const FurtherKernels<T>& further_kernels(std::string_view target) {
#define CONELAB_RETURN_FURTHER(target)                                                       \
  static const FurtherKernels<T> all{target::make_bounded<T>(), target::make_narrow<T>(),    \
                                     target::make_rows<T>(), target::soft_cap_kernels<T>()}; \
  return all;
#if defined(__x86_64__)
  if (target == "avx2") {
    CONELAB_RETURN_FURTHER(simd_avx2)
  }
  if (target != "portable") {  // avx512, or amx.
    CONELAB_RETURN_FURTHER(simd_avx512)
  }
#endif
  CONELAB_RETURN_FURTHER(simd_portable)
}

}  // namespace

template <class T>
BoundedKernels<T> bounded_kernels(const std::string& target) {
  return further_kernels<T>(kernels<T>(target, 0).name).bounded;
}
template BoundedKernels<float> bounded_kernels(const std::string&);
template BoundedKernels<double> bounded_kernels(const std::string&);

template <class T>
const NarrowKernels<T>& narrow_kernels(const std::string& target) {
  return further_kernels<T>(kernels<T>(target, 0).name).narrow;
}
template const NarrowKernels<float>& narrow_kernels(const std::string&);
template const NarrowKernels<double>& narrow_kernels(const std::string&);

template <class T>
const RowKernels<T>& row_kernels(const std::string& target) {
  return further_kernels<T>(kernels<T>(target, 0).name).rows;
}
template const RowKernels<float>& row_kernels(const std::string&);
template const RowKernels<double>& row_kernels(const std::string&);

template <class T>
const SimilarityKernels<T>& soft_cap_kernels(const Kernels<T>& target) {
  return further_kernels<T>(target.name).soft_cap;
}
template const SimilarityKernels<float>& soft_cap_kernels(const Kernels<float>&);
template const SimilarityKernels<double>& soft_cap_kernels(const Kernels<double>&);

}  // namespace conelab
