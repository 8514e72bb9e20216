// The portable kernels, which run on every GPU of compute capability 8.0 and later.
//
// They compute in float, on operands of 32 or 16 bits. There is one pair of kernels for each type
// of the list in core/similarity/all.h, compiled alone. A new similarity needs no line here.
#pragma once

#include "gpu/tile/problem.h"

namespace conelab::gpu {

template <class N>
struct TensorCall;

/// The launchers of one similarity's kernels; null if there is no such similarity. The pointers in
/// their arguments are to device memory, and `stream` is a cudaStream_t. They launch and return at
/// once; cudaGetLastError reports their errors.
struct PortableKernels {
  void (*forward)(const Problem<float>&, const ForwardResult<float>&, void* stream) = nullptr;
  void (*gradient)(const Problem<float>&, const Upstream<float>&, const GradientResult<float>&,
                   void* stream) = nullptr;
  /// The same for tensors in device memory (gpu/tile/tensors.h).
  void (*tensor_forward)(const TensorCall<float>&, void* stream) = nullptr;
  void (*tensor_gradient)(const TensorCall<float>&, void* stream) = nullptr;
};

/// Returns the kernels of similarity S.
template <class S>
[[nodiscard]] PortableKernels portable_kernels_of();

/// Returns the kernels of row `index` of the similarity table.
[[nodiscard]] PortableKernels portable_kernels(int index);

}  // namespace conelab::gpu
