// The SIMD target "amx": the kernels of avx512, with matrix products computed by the tile unit of
// Intel's processors (AMX-BF16, see tile_products.h). Tensors of double use avx512.
#pragma once

#include "core/simd/kernels.h"

namespace conelab {

/// Returns whether this machine has the tile unit and the operating system lets this process use
/// it. The first call asks the system for permission, which makes the saved state of threads that
/// use the unit 8 KB larger.
[[nodiscard]] bool amx_runs_here();

/// Returns the table `avx512` with its products replaced by those of the tile unit. S is float, or
/// Bfloat16 for tensors of either 16-bit type. Call it only if amx_runs_here() returned true.
template <class S>
[[nodiscard]] Kernels<float> make_amx_kernels(const Kernels<float>& avx512);

}  // namespace conelab
