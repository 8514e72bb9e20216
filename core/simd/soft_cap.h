// The soft cap of logits (Gemma 2, section 2):
//
//   logit -> c tanh(logit / c)
//
// Its kernels are those of a similarity whose measure is the logit before the cap and whose
// constant is c, so that every law of weights has them. They are compiled once for each SIMD
// target, like those of kernels.h.
#pragma once

#include "core/simd/kernels.h"

namespace conelab {

/// Returns the kernels of the target whose other kernels are given. T is float or double.
template <class T>
[[nodiscard]] const SimilarityKernels<T>& soft_cap_kernels(const Kernels<T>& target);

}  // namespace conelab
