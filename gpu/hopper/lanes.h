// Several floats of one thread as the number type of a formula. As with the CPU's packs, the
// instructions of several pairs interleave. `any` asks the whole warp, so that all of its threads
// skip a branch that no pair takes.
//
// On the device, inverse roots come from the special-function unit, with a relative error of 2^-22:
// the operands have 16 bits, and correctly rounded results cost eight instructions.
#pragma once

#include <cmath>

#include "gpu/tile/block.h"

namespace conelab::gpu::hopper {

/// Returns the square root of x >= 0; on the device denormal numbers count as 0.
CONELAB_TILE float fast_sqrt(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return std::sqrt(x);
#endif
}

/// Returns 1 / sqrt(x); on the device denormal numbers count as 0.
CONELAB_TILE float fast_rsqrt(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / std::sqrt(x);
#endif
}

/// Returns 1 / x; on the device denormal numbers count as 0. The compiler's own quotient is a call.
CONELAB_TILE float fast_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / x;
#endif
}

/// Returns the nearest integer.
CONELAB_TILE long long nearest(double x) {
#if defined(__CUDA_ARCH__)
  return __double2ll_rn(x);
#else
  return std::llrint(x);
#endif
}

/// Returns the larger number, or NaN if one of them is NaN.
CONELAB_TILE float nan_max(float a, float b) {
#if defined(__CUDA_ARCH__)
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a < b || b != b ? b : a;
#endif
}

/// Return the largest of three numbers that are not negative, or NaN if one of them is NaN, and the
/// smallest, leaving out those that are NaN. On the device their bits are compared, which have the
/// same order, because an instruction of Hopper compares three integers. Every NaN that its
/// arithmetic gives has the sign 0, so that it counts as larger than infinity.
CONELAB_TILE float nan_max(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __int_as_float(__vimax3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#else
  return nan_max(nan_max(a, b), c);
#endif
}
CONELAB_TILE float least_of(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __int_as_float(__vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
#else
  return std::fmin(std::fmin(a, b), c);
#endif
}

/// Returns the same pointer, but hides that from the compiler, so that it reads the memory where it
/// is used and not earlier, which would occupy registers.
template <class T>
CONELAB_TILE const T* read_late(const T* pointer) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(pointer));
#endif
  return pointer;
}

/// One truth value for each lane.
template <int count>
struct LaneMask {
  bool at[count];
};

/// `count` floats with the operations that formulas use.
template <int count>
struct Lanes {
  float at[count];

  Lanes() = default;
  CONELAB_TILE explicit Lanes(float x) {
#pragma unroll
    for (int i = 0; i < count; ++i) at[i] = x;
  }

  template <class F>
  CONELAB_TILE static Lanes make(F f) {
    Lanes r;
#pragma unroll
    for (int i = 0; i < count; ++i) r.at[i] = f(i);
    return r;
  }
  template <class F>
  CONELAB_TILE static LaneMask<count> test(F f) {
    LaneMask<count> r;
#pragma unroll
    for (int i = 0; i < count; ++i) r.at[i] = f(i);
    return r;
  }

  CONELAB_TILE friend Lanes operator+(Lanes a, Lanes b) {
    return make([&](int i) { return a.at[i] + b.at[i]; });
  }
  CONELAB_TILE friend Lanes operator-(Lanes a, Lanes b) {
    return make([&](int i) { return a.at[i] - b.at[i]; });
  }
  CONELAB_TILE friend Lanes operator*(Lanes a, Lanes b) {
    return make([&](int i) { return a.at[i] * b.at[i]; });
  }
  CONELAB_TILE friend LaneMask<count> operator<=(Lanes a, Lanes b) {
    return test([&](int i) { return a.at[i] <= b.at[i]; });
  }
  CONELAB_TILE friend LaneMask<count> operator>(Lanes a, Lanes b) {
    return test([&](int i) { return a.at[i] > b.at[i]; });
  }
  CONELAB_TILE friend LaneMask<count> operator>=(Lanes a, Lanes b) { return b <= a; }
  CONELAB_TILE friend Lanes root(Lanes a) {
    return make([&](int i) { return fast_sqrt(a.at[i]); });
  }
  CONELAB_TILE friend Lanes inverse_root(Lanes a) {
    return make([&](int i) { return fast_rsqrt(a.at[i]); });
  }
  CONELAB_TILE friend Lanes max(Lanes a, Lanes b) {
    return make([&](int i) { return nan_max(a.at[i], b.at[i]); });
  }
  CONELAB_TILE friend Lanes max(Lanes a, Lanes b, Lanes c) {
    return make([&](int i) { return nan_max(a.at[i], b.at[i], c.at[i]); });
  }
};

/// Loads lanes from memory in pairs: `at(l)` returns the address of lanes l and l + 1, which must
/// be aligned to 8 bytes.
template <int count, class Place>
CONELAB_TILE Lanes<count> load_pairs(Place at) {
  struct alignas(8) Pair {
    float first, second;
  };
  Lanes<count> r;
#pragma unroll
  for (int l = 0; l < count; l += 2) {
    const Pair pair = *reinterpret_cast<const Pair*>(at(l));
    r.at[l] = pair.first;
    r.at[l + 1] = pair.second;
  }
  return r;
}

/// Returns `yes` in lanes where the mask is true, otherwise `no`.
template <int count>
CONELAB_TILE Lanes<count> select(LaneMask<count> mask, Lanes<count> yes, Lanes<count> no) {
  return Lanes<count>::make([&](int i) { return mask.at[i] ? yes.at[i] : no.at[i]; });
}

/// Returns whether any lane is true, on the device in any thread of the warp.
template <int count>
CONELAB_TILE bool any(LaneMask<count> mask) {
  bool found = false;
#pragma unroll
  for (int i = 0; i < count; ++i) found |= mask.at[i];
#if defined(__CUDA_ARCH__)
  return __any_sync(0xffffffffu, found);
#else
  return found;
#endif
}

}  // namespace conelab::gpu::hopper
