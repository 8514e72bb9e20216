// The fast kernels of one similarity, width and law, for both number types and every variant.
#pragma once

#include <utility>

#include "gpu/hopper/fast_launch.h"
#include "gpu/hopper/forward.cuh"
#include "gpu/hopper/gradient.cuh"

namespace conelab::gpu::hopper {

template <class S, int width, Law law, int variant>
void launch_typed(const FastProblem& p, const ForwardResult<float>& result, void* stream) {
  constexpr Variant v = variants[variant];
  p.call.storage == Storage::bf16
      ? launch<S, Bf16, width, v.consumers, v.stages, v.turns, law>(p, result, stream)
      : launch<S, F16, width, v.consumers, v.stages, v.turns, law>(p, result, stream);
}

template <class S, int width, Law law>
bool FastKernels<S, width, law>::forward(int variant, const FastProblem& p,
                                         const ForwardResult<float>& result, void* stream) {
  bool launched = false;
  const auto look = [&]<int at>() {
    if (at != variant) return;
    launch_typed<S, width, law, at>(p, result, stream);
    launched = true;
  };
  [&]<int... at>(std::integer_sequence<int, at...>) { (look.template operator()<at>(), ...); }
  (std::make_integer_sequence<int, variants_of(law)>{});
  return launched;
}

template <class S, int width, Law law>
void FastKernels<S, width, law>::gradient(const FastGradient& g,
                                          const GradientResult<float>& result, void* stream) {
  if (g.call.storage == Storage::bf16) {
    launch_owner<S, Bf16, width, Owner::query, law>(g, result, stream);
    launch_owner<S, Bf16, width, Owner::key, law>(g, result, stream);
  } else {
    launch_owner<S, F16, width, Owner::query, law>(g, result, stream);
    launch_owner<S, F16, width, Owner::key, law>(g, result, stream);
  }
}

}  // namespace conelab::gpu::hopper
