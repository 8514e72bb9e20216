// Treatment of subnormal numbers.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace conelab {

/// While an object of this class exists, subnormal results of this thread become 0. Intel
/// processors compute them slowly: a few weights near e^-87 doubled the time of the backward pass
/// of umbral cones. Subnormal operands keep their value.
/// Accuracy: in the forward pass a weight may be stored with a factor of e^-16 (lowest_start in
/// core/simd/row_reference.h), in the backward pass with e^-6. Sums over float32 values below
/// 2e-31, or upstream gradients below 5e-36, may therefore become 0.
class FlushSubnormals {
 public:
#if defined(__x86_64__)
  FlushSubnormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | _MM_FLUSH_ZERO_ON); }
  ~FlushSubnormals() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#else
  FlushSubnormals() = default;
  ~FlushSubnormals() {}
#endif

 public:
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;
};

}  // namespace conelab
