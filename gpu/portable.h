// The portable kernels of each similarity: any GPU of compute capability 8.0 and later.
//
// Float arithmetic on operands of 32 or 16 bits. The kernels are instantiated by folding over the
// type list of core/similarity/all.h, in a few groups that compile side by side; a new similarity
// needs no line here.
#pragma once

#include "gpu/tile/problem.h"

namespace conelab::gpu {

/// Pointers are to device memory; `stream` is a cudaStream_t. Launches only: nothing waits, and
/// errors are left for cudaGetLastError.
struct PortableKernels {
  void (*forward)(const Problem<float>&, const ForwardResult<float>&, void* stream) = nullptr;
  void (*gradient)(const Problem<float>&, const Upstream<float>&, const GradientResult<float>&,
                   void* stream) = nullptr;
};

/// The groups that similarities are dealt to, by their index in the table.
constexpr int portable_groups = 4;

/// The kernels of the similarity that is `index` in the table, if it belongs to `group`.
template <int group>
[[nodiscard]] PortableKernels portable_kernels_of(int index);

[[nodiscard]] PortableKernels portable_kernels(int index);

}  // namespace conelab::gpu
