// The fast path on Hopper (sm_90a), which multiplies tiles by warpgroups.
//
// It takes similarities with `is_fast` on 16-bit operands with base and value of at most
// 128 numbers, with softmax, without a bias and without an explicit mask, forward and backward. All
// other calls take the portable path. Tiles are in the order of gpu/hopper/layout.h.
#pragma once

#include <type_traits>
#include <vector>

#include "gpu/tile/problem.h"

namespace conelab {
struct Dot;
struct Laplacian;
struct Umbral;
struct Penumbral;
}  // namespace conelab

namespace conelab::gpu::hopper {

/// Whether a similarity has fast kernels.
template <class S>
constexpr bool is_fast = std::is_same_v<S, Dot> || std::is_same_v<S, Laplacian> ||
                         std::is_same_v<S, Umbral> || std::is_same_v<S, Penumbral>;

/// The operands of the forward kernel, padded with zeros to whole tiles of `width` columns. A key
/// whose offset is NaN has a NaN among its numbers, so that no offset is added to products.
struct FastProblem {
  /// Sets extents, spans, constants and the queries' values.
  Problem<float> call;
  const unsigned char* query = nullptr;  ///< [group × ⌈n_q / 64⌉] tiles [64 × width]
  const unsigned char* key = nullptr;  ///< [group / share × ⌈n_k / 128⌉] tiles [128 × width]
  const unsigned char* value = nullptr;  ///< [group / share × ⌈n_k / 128⌉] tiles [128 × width]
  const float* facts = nullptr;  ///< [group / share × ⌈n_k / 128⌉ × (1 + values) × 128] of keys:
                                 ///< their offset, then their values.
};

/// The operands of the backward kernels, all in tiles [64 × width], with one of keys and values for
/// the groups that share them (Side::share). The facts are [group / share × tiles × (values + 3) ×
/// 64]: a token's offset and its values; then for a query the log-sum-exp of its row
/// in units of ln 2 (+infinity if the row saw no key, and beyond the last query) and delta (see
/// Upstream); for a key two zeros. A value that is not finite has a NaN among its numbers.
struct FastGradient {
  Problem<float> call;
  const unsigned char* query = nullptr;
  const unsigned char* key = nullptr;
  const unsigned char* value = nullptr;
  const unsigned char* output_grad = nullptr;
  const float* query_facts = nullptr;
  const float* key_facts = nullptr;
};

/// Returns the padded width of base and value, 64 or 128, for row `index` of the similarity table;
/// 0 if the fast path does not take the call.
[[nodiscard]] int fast_width(int index, const Problem<float>& call);

/// Returns whether the first constant of every head is positive, as the fast kernels need it; a
/// scale of the dot product may be negative. Reads host arrays.
[[nodiscard]] bool fast_constants(int index, const Problem<float>& call);

/// The arrays of a FastProblem, owned.
struct FastOperands {
  std::vector<unsigned char> query, key, value;
  std::vector<float> facts;
};
/// Packs the host arrays of `call` into tiles. `values` is the number of the similarity's values
/// for each token.
[[nodiscard]] FastOperands pack_operands(const Problem<float>& call, int width, int values);

/// The arrays of a FastGradient, owned.
struct FastGradientOperands {
  std::vector<unsigned char> query, key, value, output_grad;
  std::vector<float> query_facts, key_facts;
};
/// Packs the host arrays of `call` and `upstream`; the upstream gradient is rounded to the storage
/// of the call.
[[nodiscard]] FastGradientOperands pack_gradient_operands(const Problem<float>& call,
                                                          const Upstream<float>& upstream,
                                                          int width, int values);

/// A variant of the forward kernel: how many warpgroups compute, and how many tiles of keys are in
/// flight.
struct Variant {
  int consumers, stages;
  bool turns;  ///< Whether two consumers alternate in starting products.
};
/// All variants; the first is the default, the others are for tuning.
constexpr Variant variants[] = {{2, 2, true}, {2, 2, false}};

/// Launches the forward kernel on `stream`, a cudaStream_t, and returns at once. Returns false if
/// this program has no such kernel. cudaGetLastError reports errors.
[[nodiscard]] bool launch_forward(int index, int variant, const FastProblem& p,
                                  const ForwardResult<float>& result, void* stream);

/// Does the same for the backward kernels of queries and of keys. The results have the layout of
/// those of the portable kernels.
[[nodiscard]] bool launch_gradient(int index, const FastGradient& g,
                                   const GradientResult<float>& result, void* stream);

}  // namespace conelab::gpu::hopper
