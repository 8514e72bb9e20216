// The fast path on Hopper (sm_90a), which multiplies tiles by warpgroups.
//
// It takes similarities with `is_fast` on 16-bit operands with base and value of at most
// 128 numbers, without a mask with holes, forward and backward. Weights are a softmax over keys, or
// sigmoids that are not scaled (aggregate mean). A bias is a number for each head and offset, as
// ALiBi, HyPE on a sequence and the table of T5 are; the gradients of its parameters come from the
// sums of dL/dlogit by offset, which the kernel of the queries adds up. All other calls take the
// portable path. Tiles are in the order of gpu/hopper/layout.h.
#pragma once

#include <type_traits>
#include <vector>

#include "gpu/hopper/layout.h"
#include "gpu/tile/problem.h"

// The similarities with fast kernels, one a line: gpu/CMakeLists.txt and tests/gpu/run.sh read them
// here, and write a source for each.
namespace conelab {
struct Dot;
struct Laplacian;
struct Umbral;
struct Penumbral;
}  // namespace conelab

namespace conelab::gpu::hopper {

/// Says whether a similarity has fast kernels.
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
  const float* bias = nullptr;  ///< [head × offset_entries] see pack_bias; null for Law::softmax.
};

/// The operands of the backward kernels, all in tiles [64 × width], with one of keys and values for
/// the groups that share them (Side::share). The facts are [group / share × tiles × (values + 3) ×
/// 64]: a token's offset and its values; then for a query the log-sum-exp of its row
/// in units of ln 2 (+infinity if the row saw no key, and beyond the last query; of sigmoid weights
/// 0, or NaN if the row has a NaN) and delta (see Upstream); for a key two zeros. A value that is
/// not finite has a NaN among its numbers.
struct FastGradient {
  Problem<float> call;
  const unsigned char* query = nullptr;
  const unsigned char* key = nullptr;
  const unsigned char* value = nullptr;
  const unsigned char* output_grad = nullptr;
  const float* query_facts = nullptr;
  const float* key_facts = nullptr;
  const float* bias = nullptr;  ///< As in FastProblem.
  /// [group × offset_entries] dL/dlogit summed by offset, times offset_scale and rounded. Sums of
  /// integers do not depend on their order. Null if there is no bias. The launch clears them.
  long long* offset_sums = nullptr;
  /// [group] The kernel replaces it by NaN where a sum is not finite.
  double* offset_scale = nullptr;
};

/// Returns the law of a call that the fast path takes.
[[nodiscard]] Law fast_law(const Problem<float>& call);

/// Returns the padded width of base and value, 64 or 128, for row `index` of the similarity table;
/// 0 if the fast path does not take the call.
[[nodiscard]] int fast_width(int index, const Problem<float>& call);

/// Returns whether the first constant of every head is positive, as the fast kernels need it (a
/// scale of the dot product may be negative), and no quotient of `pack_bias` overflows. Reads host
/// arrays.
[[nodiscard]] bool fast_constants(int index, const Problem<float>& call);

/// Returns the table of biases of every head, divided by the factor of its levels (fast_formula.h),
/// so that the kernels add biases to levels: [head × offset_entries], zeros where there is no such
/// pair or no bias. Empty for Law::softmax.
[[nodiscard]] std::vector<float> pack_bias(int index, const Problem<float>& call);

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
  std::vector<double> offset_scale;  ///< Empty if there is no bias.
};
/// Packs the host arrays of `call` and `upstream`; the upstream gradient is rounded to the storage
/// of the call.
[[nodiscard]] FastGradientOperands pack_gradient_operands(const Problem<float>& call,
                                                          const Upstream<float>& upstream,
                                                          int width, int values);

/// Returns dL/dlogit of the pairs of each group, summed by entry of Problem::bias [group ×
/// bias_size], given FastGradient::offset_sums and offset_scale. Reads host arrays.
[[nodiscard]] std::vector<double> sums_by_offset(const Problem<float>& call,
                                                 const std::vector<long long>& sums,
                                                 const std::vector<double>& scale);

/// A variant of the forward kernel: how many warpgroups compute, and how many tiles of keys are in
/// flight.
struct Variant {
  int consumers, stages;
  bool turns;  ///< Whether two consumers alternate in starting products.
};
/// All variants; the first is the default, the others are for tuning, and for Law::softmax only.
constexpr Variant variants[] = {{2, 2, true}, {2, 2, false}};
constexpr int variants_of(Law law) {
  return law == Law::softmax ? sizeof(variants) / sizeof(variants[0]) : 1;
}

/// Launches the forward kernel on `stream`, a cudaStream_t, and returns at once. Returns false if
/// this program has no such kernel. cudaGetLastError reports errors.
[[nodiscard]] bool launch_forward(int index, int variant, const FastProblem& p,
                                  const ForwardResult<float>& result, void* stream);

/// Does the same for the backward kernels of queries and of keys. The results have the layout of
/// those of the portable kernels.
[[nodiscard]] bool launch_gradient(int index, const FastGradient& g,
                                   const GradientResult<float>& result, void* stream);

}  // namespace conelab::gpu::hopper
