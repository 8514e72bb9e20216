// The SIMD target "amx", for tensors of 16 bits: the kernels of avx512 with products on the tile
// unit of Intel's processors (AMX-BF16), see tile_products.h. Tensors of float stay on avx512: bf16
// terms do not give them their 24 bits.
//
// Checked on an emulated processor, instruction by instruction; never timed on a real one.
#pragma once

#include "core/simd/kernels.h"

namespace conelab {

/// Whether this machine has the unit and its system lets this process use it. Asks the system for
/// it when first called: the states of threads that use tiles are 8 KB larger.
[[nodiscard]] bool amx_runs_here();

/// `avx512` with the products replaced. To be called only where amx_runs_here().
[[nodiscard]] Kernels<float> make_amx_kernels(const Kernels<float>& avx512);

}  // namespace conelab
