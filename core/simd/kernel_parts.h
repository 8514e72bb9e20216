// Functions that fill parts of a target's kernel table. The kernel sources of that target define
// them.
#pragma once

#include "core/simd/kernels.h"

namespace conelab::CONELAB_SIMD {

/// Adds the kernels that scale, pack and exactly multiply tokens.
template <class T>
void add_operands(Kernels<T>& kernels);
/// Adds the products, squared distances and sums that all similarities share.
template <class T>
void add_products(Kernels<T>& kernels);
/// Adds the kernels of Measure::tanh_sum.
template <class T>
void add_tanh_sums(Kernels<T>& kernels);
/// Returns the kernels of the similarity S, which core/simd/kernel_similarity.cpp.in instantiates.
template <class S, class T>
SimilarityKernels<T> kernels_of();

}  // namespace conelab::CONELAB_SIMD
