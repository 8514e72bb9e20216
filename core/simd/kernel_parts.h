// Parts of a target's kernel table, filled by the kernel sources of that target.
#pragma once

#include "core/simd/kernels.h"

namespace conelab::CONELAB_SIMD {

/// Fills what places and packs tokens.
template <class T>
void add_operands(Kernels<T>& kernels);
/// Fills products and what else serves every similarity.
template <class T>
void add_products(Kernels<T>& kernels);
/// Fills the sums of hyperbolic tangents.
template <class T>
void add_tanh_sums(Kernels<T>& kernels);
/// Returns the kernels of the similarity S, which core/simd/kernel_similarity.cpp.in instantiates.
template <class S, class T>
Tail<T> tail();

}  // namespace conelab::CONELAB_SIMD
