// Launchers of the fast kernels without CUDA types. Each combination of similarity, width and law
// is compiled as a separate source.
#pragma once

#include "gpu/hopper/fast.h"

namespace conelab::gpu::hopper {

/// The launchers of similarity S for base and values padded to `width` numbers, 64 or 128. `stream`
/// is a cudaStream_t; cudaGetLastError reports errors.
template <class S, int width, Law law>
struct FastKernels {
  /// Returns false, without a launch, if there is no such variant of the kernel.
  [[nodiscard]] static bool forward(int variant, const FastProblem& p,
                                    const ForwardResult<float>& result, void* stream);
  /// Launches the kernels of both sides.
  static void gradient(const FastGradient& g, const GradientResult<float>& result, void* stream);
};

}  // namespace conelab::gpu::hopper
