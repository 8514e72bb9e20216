// The tails of this target for float.
#include "core/simd/kernel_parts.h"
#include "core/simd/tails.h"

namespace conelab::CONELAB_SIMD {

template <>
void add_tails(Kernels<float>& k) {
  k.tails = tail_table<float>(Similarities{});
}

}  // namespace conelab::CONELAB_SIMD
