// Finds the fast kernels of a call.
#include "gpu/hopper/fast.h"

#include "gpu/hopper/fast_launch.h"
#include "gpu/tile/visit_similarity.h"

namespace conelab::gpu::hopper {
namespace {

template <class S, Law law, class F>
void choose_width(const Problem<float>& call, const F& launch) {
  const int widest = call.base_size < call.width ? call.width : call.base_size;
  widest <= 64 ? launch(FastKernels<S, 64, law>{}) : launch(FastKernels<S, 128, law>{});
}

template <class S, class F>
void choose_law(const Problem<float>& call, const F& launch) {
  switch (fast_law(call)) {
    case Law::softmax:
      return choose_width<S, Law::softmax>(call, launch);
    case Law::biased:
      return choose_width<S, Law::biased>(call, launch);
    case Law::sigmoid:
      return choose_width<S, Law::sigmoid>(call, launch);
  }
}

/// Calls launch(FastKernels) for the similarity, width and law of the call, if there are such
/// kernels.
template <class F>
void with_kernels(int index, const Problem<float>& call, const F& launch) {
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    if constexpr (is_fast<S>) choose_law<S>(call, launch);
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
