// The SIMD target "amx": the kernels of avx512 with products on the tile unit of Intel's processors
// (AMX-BF16), see tile_products.h. Tensors of double stay on avx512.
#pragma once

#include "core/simd/kernels.h"

namespace conelab {

/// Whether this machine has the unit and its system lets this process use it. Asks the system for
/// it when first called: the states of threads that use tiles are 8 KB larger.
[[nodiscard]] bool amx_runs_here();

/// `avx512` with the products replaced, for tensors of float or, as Bfloat16, of 16 bits. To be
/// called only where amx_runs_here().
template <class S>
[[nodiscard]] Kernels<float> make_amx_kernels(const Kernels<float>& avx512);

}  // namespace conelab
