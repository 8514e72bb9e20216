// The library of binding.cu without CUDA: the same functions, launches run on the host. Lets the
// tests of the scripts put the scripts' own operands through the kernels' own code.
#include <algorithm>

#include "gpu/hopper/fast_launch.h"
#include "gpu/hopper/forward_block.h"
#include "gpu/hopper/numbers.h"
#include "tests/gpu/binding.cu"
#include "tests/gpu/emulated_block.h"
#include "tests/gpu/emulated_gradient.h"
#include "tests/gpu/host_runner.h"

namespace conelab::gpu {

PortableKernels portable_kernels(int index) {
  PortableKernels found;
  visit_similarity(index, [&](auto tag) {
    using S = typename decltype(tag)::type;
    found.forward = [](const Problem<float>& p, const ForwardResult<float>& result, void*) {
      run_forward<S>(tests::HostRunner(), p, result);
    };
    found.gradient = [](const Problem<float>& p, const Upstream<float>& upstream,
                        const GradientResult<float>& result,
                        void*) { run_gradient<S>(tests::HostRunner(), p, upstream, result); };
  });
  return found;
}

namespace hopper {
namespace {

template <class S, class Type, int width, Law law, bool turns>
void run_forward(const FastProblem& p, const ForwardResult<float>& result) {
  constexpr Variant v = variants[turns ? 0 : 1];
  static_assert(v.turns == turns);
  using Block = ForwardBlock<S, Type, width, v.consumers, v.stages, turns, law>;
  for (int block = 0; block < Block::blocks(p.call); ++block) {
    tests::run_block<Block, tests::EmulatedGroup<Block, Type>>(block, p, result, 7);
  }
}

template <class S, class Type, int width, Law law, Owner owner>
void run_gradient(const FastGradient& g, const GradientResult<float>& result) {
  using Block = GradientBlock<S, Type, width, owner, law>;
  for (int block = 0; block < Block::blocks(g.call); ++block) {
    tests::run_block<Block, tests::EmulatedGradientGroup<Block>>(block, g, result, 7);
  }
}

/// Calls run(Type{}) for the call's number type.
template <class Run>
void with_type(const Problem<float>& call, const Run& run) {
  call.storage == Storage::bf16 ? run(Bf16{}) : run(F16{});
}

}  // namespace

template <class S, int width, Law law>
bool FastKernels<S, width, law>::forward(int variant, const FastProblem& p,
                                         const ForwardResult<float>& result, void*) {
  with_type(p.call, [&](auto type) {
    using Type = decltype(type);
    variant == 0 ? run_forward<S, Type, width, law, true>(p, result)
                 : run_forward<S, Type, width, law, false>(p, result);
  });
  return true;
}

template <class S, int width, Law law>
void FastKernels<S, width, law>::gradient(const FastGradient& g,
                                          const GradientResult<float>& result, void*) {
  if (g.offset_sums != nullptr) {
    const int entries = offset_entries(g.call.query.count, g.call.key.count);
    std::fill_n(g.offset_sums, static_cast<std::int64_t>(entries) * g.call.groups, 0);
  }
  with_type(g.call, [&](auto type) {
    using Type = decltype(type);
    run_gradient<S, Type, width, law, Owner::query>(g, result);
    run_gradient<S, Type, width, law, Owner::key>(g, result);
  });
}

#define CONELAB_FAST(S)                              \
  template struct FastKernels<S, 64, Law::softmax>;  \
  template struct FastKernels<S, 128, Law::softmax>; \
  template struct FastKernels<S, 64, Law::biased>;   \
  template struct FastKernels<S, 128, Law::biased>;  \
  template struct FastKernels<S, 64, Law::sigmoid>;  \
  template struct FastKernels<S, 128, Law::sigmoid>;
CONELAB_FAST(Dot)
CONELAB_FAST(Laplacian)
CONELAB_FAST(Umbral)
CONELAB_FAST(Penumbral)

}  // namespace hopper
}  // namespace conelab::gpu
