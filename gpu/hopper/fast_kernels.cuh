// The fast kernels of one similarity and width, for both number types and every variant.
#pragma once

#include <utility>

#include "gpu/hopper/fast_launch.h"
#include "gpu/hopper/forward.cuh"
#include "gpu/hopper/gradient.cuh"

namespace conelab::gpu::hopper {

template <class S, int width, int variant>
bool launch_typed(const FastProblem& p, const ForwardResult<float>& result, void* stream) {
  constexpr Variant v = variants[variant];
  return p.call.storage == Storage::bf16
             ? launch<S, Bf16, width, v.consumers, v.stages, v.turns>(p, result, stream)
             : launch<S, F16, width, v.consumers, v.stages, v.turns>(p, result, stream);
}

template <class S, int width>
bool FastKernels<S, width>::forward(int variant, const FastProblem& p,
                                    const ForwardResult<float>& result, void* stream) {
  bool launched = false;
  const auto look = [&]<int at>() {
    if (at == variant) launched = launch_typed<S, width, at>(p, result, stream);
  };
  [&]<int... at>(std::integer_sequence<int, at...>) { (look.template operator()<at>(), ...); }
  (std::make_integer_sequence<int, sizeof(variants) / sizeof(variants[0])>{});
  return launched;
}

template <class S, int width>
void FastKernels<S, width>::gradient(const FastGradient& g, const GradientResult<float>& result,
                                     void* stream) {
  if (g.call.storage == Storage::bf16) {
    launch_owner<S, Bf16, width, Owner::query>(g, result, stream);
    launch_owner<S, Bf16, width, Owner::key>(g, result, stream);
  } else {
    launch_owner<S, F16, width, Owner::query>(g, result, stream);
    launch_owner<S, F16, width, Owner::key>(g, result, stream);
  }
}

}  // namespace conelab::gpu::hopper
