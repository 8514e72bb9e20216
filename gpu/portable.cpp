#include "gpu/portable.h"

#include "gpu/tile/visit_similarity.h"

namespace conelab::gpu {

PortableKernels portable_kernels(int index) {
  PortableKernels found;
  visit_similarity(index,
                   [&](auto tag) { found = portable_kernels_of<typename decltype(tag)::type>(); });
  return found;
}

}  // namespace conelab::gpu
