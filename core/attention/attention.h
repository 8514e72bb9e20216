// The public door of the engine: attention, forward and backward, on the CPU.
//
//   logit_ij = similarity(map(q_i), map(k_j)) + bias(j - i - n_k + n_q),  -inf where masked
//   weight_i = softmax_j(logit_ij)  or  sigmoid(logit_ij)
//   output_i = sum_j weight_ij v_j,  or the Einstein midpoint of the v_j
//
// Tensors hold double, float, Float16 or Bfloat16; the 16-bit types are widened tile by tile,
// computed in float and rounded once, at the end. Memory beyond inputs and outputs is O(n): no n ×
// n array exists unless weights or logits are asked for. Results do not depend on the number of
// threads. Tile units keep 16 bits of the factors of 16-bit tensors (core/simd/tile_products.h).
//
// Errors of float32 against float64, N(0,1) tokens, n = 512, d = 64: outputs 4e-7 (cones
// 1e-7), gradients 5e-6 of their largest entry. A logit of some hundreds (umbral with radius 0.1 on
// unscaled tokens) is itself rounded to 1e-5: outputs there are within 1e-4, gradients 1e-5, as for
// the same formula in any float32 library; scale the tokens, or use float64. Of float32 values
// below 2e-31 and upstream gradients below 5e-36 results may be 0. Rows of finite tokens that are
// too far out for float32 are computed in float64 (wide_rows.h), at its speed; where even that
// overflows they are NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/attention/call.h"
#include "core/base/half.h"
#include "core/base/tensor.h"

namespace conelab {

/// Extents of a call, known before any number is read.
struct Extents {
  std::int64_t batch = 1;
  std::int64_t head = 1;
  std::int64_t query = 0;    ///< n_q
  std::int64_t key = 0;      ///< n_k
  std::int64_t feature = 0;  ///< d of query and key
  std::int64_t value = 0;    ///< d_v
};

/// The tensors of a call. `key` and `query` share d, `key` and `value` share n_k.
template <class T>
struct AttentionInput {
  Tensor4<T> query;        ///< [batch × head × n_q × d]
  Tensor4<T> key;          ///< [batch × head × n_k × d]
  Tensor4<T> value;        ///< [batch × head × n_k × d_v]
  Tensor4<T> output_grad;  ///< [batch × head × n_q × d_v]; empty: ones. Read by backward only.
  /// Explicit mask [n_q × n_k], 1 = may attend; read by the mask part "explicit".
  std::vector<std::uint8_t> allowed;
  /// Keys that are not padding, one per batch element; read by the mask part "padding".
  std::vector<std::int64_t> key_lengths;
};

/// The same input in another type.
template <class To, class From>
[[nodiscard]] AttentionInput<To> convert(const AttentionInput<From>& input) {
  return {convert<To>(input.query),       convert<To>(input.key), convert<To>(input.value),
          convert<To>(input.output_grad), input.allowed,          input.key_lengths};
}

/// Checks the shapes once; throws a failure that names both operands and both sizes.
template <class T>
[[nodiscard]] Extents check_extents(const AttentionInput<T>& input);

class Plan;  // resolved call; see core/attention/plan.h

/// Checks names, keys, domains and list lengths of `call` for tensors of these extents.
/// Throws misuse: unknown names get the nearest known name and the list; unknown keys get the keys
/// that the chosen parts take.
[[nodiscard]] std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents);

/// Every parameter of the plan, defaults filled in, in a fixed order.
[[nodiscard]] const std::vector<Parameter>& parameters(const Plan& plan);
/// The words chosen for non-numeric parameters ("convention" -> "paper").
[[nodiscard]] const std::map<std::string, std::string>& choices(const Plan& plan);
/// The call with its defaults written out (map name, ...).
[[nodiscard]] const Call& resolved_call(const Plan& plan);

/// How to run. Threads change no bit of a result, `simd` the last ones (of 16-bit tensors all
/// but 16 with "amx").
struct Execution {
  int threads = 0;                       ///< 0: all cores; never more than there are.
  std::string simd;                      ///< Empty: the best this machine has; else "avx2", ...
  std::function<bool()> cancelled;       ///< Polled between tiles; true throws interrupted.
  std::function<void(double)> progress;  ///< Fraction done in [0, 1], from any thread.
};

/// For a step of a longer run, of whose progress it is the part from `begin` to `end`.
[[nodiscard]] Execution stage(const Execution& run, double begin, double end);
/// For a step that takes no time worth telling.
[[nodiscard]] Execution quiet(const Execution& run);

/// A row that was computed in float64, because its tokens or logits are too far out for T
/// (wide_rows.h): its weights are exp(logit - reference) / sum, or sigmoid(logit), in double.
struct WideRow {
  std::int64_t batch, head, query;
  double reference, sum;
};

/// What forward computes, and what backward needs to recompute the rest.
template <class T>
struct Forward {
  Tensor4<T> output;        ///< [batch × head × n_q × d_v]
  Tensor4<Compute<T>> lse;  ///< [batch × head × n_q × 1] log-sum-exp; -inf for a masked row;
                            ///< for sigmoid weights the logarithm of the sum of weights.
  /// [batch × head × n_q × 1] the reference m of a row, often 0, and the row's sum of
  /// exp(logit - m): lse = m + log(sum).
  Tensor4<Compute<T>> row_reference, row_sum;
  Tensor4<Compute<T>> midpoint_sum;  ///< Einstein midpoint only: the divisor
                                     ///< sum of weight * Lorentz factor.
  std::vector<WideRow> wide_rows;    ///< In order; their row_sum says nothing.
};

/// Gradients of L = sum(output * output_grad); total derivatives, through the map too.
template <class T>
struct Backward {
  Tensor4<T> query, key, value;  ///< In the shapes of the inputs.
  /// By key, every differentiable parameter of the plan: [1] summed over batch and heads, or
  /// [head] where it was given as a list.
  std::map<std::string, std::vector<double>> parameters;
};

template <class T>
[[nodiscard]] Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                                 const Execution& execution = {});

/// `saved` is what `forward` returned for the same plan and input.
template <class T>
[[nodiscard]] Backward<T> backward(const Plan& plan, const AttentionInput<T>& input,
                                   const Forward<T>& saved, const Execution& execution = {});

/// The n_q × n_k arrays, for figures and files: [batch × head × n_q × n_k].
/// Masked logits are -inf, masked weights 0.
enum class Map2d { logits, weights };
template <class T>
[[nodiscard]] Tensor4<Compute<T>> attention_map(const Plan& plan, const AttentionInput<T>& input,
                                                Map2d which, const Execution& execution = {});

/// A rectangle of one head's map: rows [query_begin, query_end) × keys [key_begin, key_end).
struct MapTile {
  std::int64_t batch, head, query_begin, query_end, key_begin, key_end;
};

/// Into row-major `out`; memory O(tile), rows shared by the threads. `saved` is needed for weights
/// only, values are not read: of `input`, queries and keys are to have the plan's extents, which is
/// not checked. Throws a failure for a tile that is not of the map; an empty one is none.
template <class T>
void attention_map_tile(const Plan& plan, const AttentionInput<T>& input, Map2d which,
                        const Forward<T>* saved, const MapTile& tile, Compute<T>* out,
                        const Execution& execution = {});

/// FLOP of the products of one pass, the count used for rooflines: forward 2 n_q n_k (d + d_v) per
/// head, backward 2 n_q n_k (3 d + 2 d_v). Masked tiles are not subtracted.
[[nodiscard]] double forward_flops(const Extents& extents);
[[nodiscard]] double backward_flops(const Extents& extents);

/// Names for `list` and for error messages.
struct PartInfo {
  std::string name;
  std::string about;  ///< Formula in one line, and the paper.
  std::vector<ParameterInfo> parameters;
  std::string default_map;  ///< Similarities only.
};
[[nodiscard]] std::vector<PartInfo> list_similarities();
[[nodiscard]] std::vector<PartInfo> list_maps();
[[nodiscard]] std::vector<PartInfo> list_biases();
[[nodiscard]] std::vector<PartInfo> list_masks();

}  // namespace conelab
