// The fast kernels as functions, without CUDA types: each similarity and width is a source of its
// own.
#pragma once

#include "gpu/hopper/fast.h"

namespace conelab::gpu::hopper {

template <class S, int width>
struct FastKernels {
  /// False where there is no such variant.
  [[nodiscard]] static bool forward(int variant, const FastProblem& p,
                                    const ForwardResult<float>& result, void* stream);
  static void gradient(const FastGradient& g, const GradientResult<float>& result, void* stream);
};

}  // namespace conelab::gpu::hopper
