// The portable kernels, which run on every GPU of compute capability 8.0 and later.
//
// They compute in float, on operands of 32 or 16 bits. There is one pair of kernels for each type
// of the list in core/similarity/all.h; they are compiled in a few groups, in parallel. A new
// similarity needs no line here.
#pragma once

#include "gpu/tile/problem.h"

namespace conelab::gpu {

/// The launchers of one similarity's kernels; null if there is no such similarity. The pointers in
/// their arguments are to device memory, and `stream` is a cudaStream_t. They launch and return at
/// once; cudaGetLastError reports their errors.
struct PortableKernels {
  void (*forward)(const Problem<float>&, const ForwardResult<float>&, void* stream) = nullptr;
  void (*gradient)(const Problem<float>&, const Upstream<float>&, const GradientResult<float>&,
                   void* stream) = nullptr;
};

/// The number of groups. A similarity belongs to the group (index in the table) mod
/// portable_groups.
constexpr int portable_groups = 4;

/// Returns the kernels of row `index` of the similarity table if it belongs to `group`, else nulls.
template <int group>
[[nodiscard]] PortableKernels portable_kernels_of(int index);

/// Returns the kernels of row `index` of the similarity table.
[[nodiscard]] PortableKernels portable_kernels(int index);

}  // namespace conelab::gpu
