// The kernels behind C functions: what run.py calls on PyTorch's tensors. Needs nothing but CUDA,
// so that the kernels can be checked and timed on machines that cannot build the program.
#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

#include "gpu/hopper/fast.h"
#include "gpu/hopper/layout.h"
#include "gpu/portable.h"
#include "gpu/tile/visit_similarity.h"

namespace {

using namespace conelab::gpu;

#if !defined(__CUDACC__)
// Emulated (tests/emulated/kernels.cpp), no launch fails: a fault ends the program.
using cudaError_t = int;
int cudaGetLastError() { return 0; }
const char* cudaGetErrorString(cudaError_t) { return "no error"; }
#endif

const conelab::SimilarityInfo& info_of(int similarity) {
  const conelab::SimilarityInfo* info = nullptr;
  visit_similarity(similarity, [&](auto tag) { info = &decltype(tag)::type::info; });
  return *info;
}

}  // namespace

extern "C" {

int conelab_similarities() { return conelab::Similarities::size; }
const char* conelab_similarity_name(int similarity) { return info_of(similarity).name; }
/// The value of its first choice, "" without one.
const char* conelab_similarity_choice(int similarity) {
  const char* word = info_of(similarity).words[0].word;
  return word == nullptr ? "" : word;
}
int conelab_similarity_values(int similarity) {
  int values = 0;
  visit_similarity(similarity, [&](auto tag) { values = decltype(tag)::type::values; });
  return values;
}
int conelab_similarity_constants(int similarity) {
  int constants = 0;
  visit_similarity(similarity, [&](auto tag) { constants = decltype(tag)::type::constants; });
  return constants;
}

/// Bytes of the structs that cross the border, so that the caller can check its own.
int conelab_struct_bytes(int which) {
  constexpr int bytes[] = {sizeof(Problem<float>),      sizeof(ForwardResult<float>),
                           sizeof(Upstream<float>),     sizeof(GradientResult<float>),
                           sizeof(hopper::FastProblem), sizeof(hopper::FastGradient)};
  return bytes[which];
}

/// Both return the launch's error, 0 for none; nothing waits.
int conelab_portable_forward(int similarity, const Problem<float>* p,
                             const ForwardResult<float>* result, void* stream) {
  portable_kernels(similarity).forward(*p, *result, stream);
  return cudaGetLastError();
}
int conelab_portable_gradient(int similarity, const Problem<float>* p,
                              const Upstream<float>* upstream, const GradientResult<float>* result,
                              void* stream) {
  portable_kernels(similarity).gradient(*p, *upstream, *result, stream);
  return cudaGetLastError();
}

/// 64 or 128; 0 where the fast path does not take the call.
int conelab_fast_width(int similarity, const Problem<float>* p) {
  return hopper::fast_width(similarity, *p);
}
int conelab_fast_variants() { return sizeof(hopper::variants) / sizeof(hopper::variants[0]); }
int conelab_fast_consumers(int variant) { return hopper::variants[variant].consumers; }
int conelab_fast_stages(int variant) { return hopper::variants[variant].stages; }
int conelab_fast_turns(int variant) { return hopper::variants[variant].turns ? 1 : 0; }
int conelab_swizzled(int rows, int row, int column) { return hopper::swizzled(rows, row, column); }
/// -1 where there is no such kernel.
int conelab_fast_forward(int similarity, int variant, const hopper::FastProblem* p,
                         const ForwardResult<float>* result, void* stream) {
  if (!hopper::launch_forward(similarity, variant, *p, *result, stream)) return -1;
  return cudaGetLastError();
}

int conelab_fast_gradient(int similarity, const hopper::FastGradient* g,
                          const GradientResult<float>* result, void* stream) {
  if (!hopper::launch_gradient(similarity, *g, *result, stream)) return -1;
  return cudaGetLastError();
}

const char* conelab_error(int status) {
  return cudaGetErrorString(static_cast<cudaError_t>(status));
}
}
