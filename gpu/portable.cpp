#include "gpu/portable.h"

#include <utility>

namespace conelab::gpu {
namespace {

template <int... group>
PortableKernels find(std::integer_sequence<int, group...>, int index) {
  PortableKernels found;
  ((index % portable_groups == group ? (void)(found = portable_kernels_of<group>(index)) : void()),
   ...);
  return found;
}

}  // namespace

PortableKernels portable_kernels(int index) {
  return find(std::make_integer_sequence<int, portable_groups>{}, index);
}

}  // namespace conelab::gpu
