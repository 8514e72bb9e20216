// Numbers below the normal ones.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace conelab {

/// While it lives, this thread's results below the normal numbers become 0. They are slow on
/// Intel's processors: the few weights near e^-87 doubled the time of umbral cones' backward pass.
/// Operands below the normal numbers still count. On the way forward a weight may be e^-16 of what
/// it stands for (lowest_start in core/simd/row_reference.h), on the way back e^-6: of float32
/// values below 2e-31 and upstream gradients below 5e-36 sums may be 0.
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
