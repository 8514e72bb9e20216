// The fast path: warpgroup products on Hopper (sm_90a) for calls of a common kind.
//
// Similarities of `FastSimilarities`, 16-bit operands, base and value of up to 128 numbers,
// softmax, no bias, no explicit mask; forward and backward. Everything else takes the portable
// path.
#pragma once

#include <type_traits>
#include <vector>

#include "core/similarity/all.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu::hopper {

using FastSimilarities = TypeList<Dot, Laplacian, Umbral, Penumbral>;

/// A call's operands in the order of gpu/hopper/layout.h, padded with zeros to whole tiles.
struct FastProblem {
  Problem<float> call;                   ///< Extents, spans, constants, the queries' numbers.
  const unsigned char* query = nullptr;  ///< [group × ⌈n_q / 64⌉] tiles [64 × width]
  const unsigned char* key = nullptr;    ///< [group × ⌈n_k / 128⌉] tiles [128 × width]
  const unsigned char* value = nullptr;  ///< likewise
  const float* facts = nullptr;          ///< [group × ⌈n_k / 128⌉ × (1 + values) × 128]
};

/// The backward pass' operands, all in tiles [64 × width]. Facts are [tile × (values + 3) × 64]: a
/// token's offset, its values, then for queries the log-sum-exp in units of ln 2 (+infinity where
/// the row saw nothing, and beyond the end) and delta, for keys the value's mark and 0.
struct FastGradient {
  Problem<float> call;
  const unsigned char* query = nullptr;
  const unsigned char* key = nullptr;
  const unsigned char* value = nullptr;
  const unsigned char* output_grad = nullptr;
  const float* query_facts = nullptr;
  const float* key_facts = nullptr;
};

/// 64 or 128: the padded width of base and value; 0 where the fast path does not take the call.
/// `index` is the similarity's in the table.
[[nodiscard]] int fast_width(int index, const Problem<float>& call);

/// Arrays of a FastProblem.
struct FastOperands {
  std::vector<unsigned char> query, key, value;
  std::vector<float> facts;
};
/// From host arrays; `values` numbers per token.
[[nodiscard]] FastOperands pack_operands(const Problem<float>& call, int width, int values);

/// Arrays of a FastGradient.
struct FastGradientOperands {
  std::vector<unsigned char> query, key, value, output_grad;
  std::vector<float> query_facts, key_facts;
};
/// From host arrays; the upstream gradient is rounded to the call's storage.
[[nodiscard]] FastGradientOperands pack_gradient_operands(const Problem<float>& call,
                                                          const Upstream<float>& upstream,
                                                          int width, int values);

/// Variants of the kernel, for tuning; the first is the default.
struct Variant {
  int consumers, stages;
  bool turns;  ///< Two consumers alternate in starting products.
};
constexpr Variant variants[] = {{2, 2, true}, {2, 2, false}};

/// Launches on a cudaStream_t; false where this program has no such kernel. Errors are left for
/// cudaGetLastError.
[[nodiscard]] bool launch_forward(int index, int variant, const FastProblem& p,
                                  const ForwardResult<float>& result, void* stream);

/// Likewise, both sides. Potentials and sums are written as the portable kernels write them.
[[nodiscard]] bool launch_gradient(int index, const FastGradient& g,
                                   const GradientResult<float>& result, void* stream);

}  // namespace conelab::gpu::hopper
