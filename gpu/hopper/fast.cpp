// Finds the fast kernels of a call.
#include "gpu/hopper/fast.h"

#include "gpu/hopper/fast_launch.h"
#include "gpu/tile/visit_similarity.h"

namespace conelab::gpu::hopper {
namespace {

template <class S, Law law, class F>
void choose_width(int width, const F& launch) {
  if (width == 64) launch(FastKernels<S, 64, law>{});
  if (width == 128) launch(FastKernels<S, 128, law>{});
}

template <class S, class F>
void choose_law(Law law, int width, const F& launch) {
  switch (law) {
    case Law::softmax:
      return choose_width<S, Law::softmax>(width, launch);
    case Law::biased:
      return choose_width<S, Law::biased>(width, launch);
    case Law::sigmoid:
      return choose_width<S, Law::sigmoid>(width, launch);
  }
}

/// Calls launch(FastKernels) for the similarity, width and law of the call, if the fast path takes
/// it.
template <class F>
void with_kernels(int index, const Problem<float>& call, const F& launch) {
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (is_fast<S>) choose_law<S>(fast_law(call), fast_width(index, call), launch);
  });
}

}  // namespace

bool launch_forward(int index, int variant, const FastProblem& p,
                    const ForwardResult<float>& result, void* stream) {
  bool launched = false;
  with_kernels(index, p.call,
               [&](auto kernels) { launched = kernels.forward(variant, p, result, stream); });
  return launched;
}

bool launch_gradient(int index, const FastGradient& g, const GradientResult<float>& result,
                     void* stream) {
  bool launched = false;
  with_kernels(index, g.call, [&](auto kernels) {
    kernels.gradient(g, result, stream);
    launched = true;
  });
  return launched;
}

}  // namespace conelab::gpu::hopper
