// The tails of this target for double.
#include "core/simd/kernel_parts.h"
#include "core/simd/tails.h"

namespace conelab::CONELAB_SIMD {

template <>
void add_tails(Kernels<double>& k) {
  k.tails = tail_table<double>(Similarities{});
}

}  // namespace conelab::CONELAB_SIMD
