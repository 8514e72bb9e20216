// The two 16-bit number types of the matrix instructions, with their names in PTX.
#pragma once

#include <cstdint>

#include "core/base/half.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu::hopper {

struct Bf16 {
  static constexpr char name[] = "bf16";  ///< Its name in instructions.
  static constexpr Storage storage = Storage::bf16;
  CONELAB_TILE static float widen(std::uint16_t bits) { return from_bf16(bits); }
  /// Rounds two numbers and packs them into one register, `low` in the lower half.
  CONELAB_TILE static std::uint32_t pack(float low, float high) {
#if defined(__CUDA_ARCH__)
    std::uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    return static_cast<std::uint32_t>(to_bf16(high)) << 16 | to_bf16(low);
#endif
  }
};

struct F16 {
  static constexpr char name[] = "f16";
  static constexpr Storage storage = Storage::f16;
  CONELAB_TILE static float widen(std::uint16_t bits) { return from_f16(bits); }
  CONELAB_TILE static std::uint32_t pack(float low, float high) {
#if defined(__CUDA_ARCH__)
    std::uint32_t both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    return static_cast<std::uint32_t>(to_f16(high)) << 16 | to_f16(low);
#endif
  }
};

}  // namespace conelab::gpu::hopper
