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
// Errors of float32, float16 and bfloat16 against float64 are at most twice those of the same
// formula evaluated plainly in that type, on N(0,1) tokens with planted twins and near-twins,
// outputs and gradients. A row that sees a finite token beyond the reach of its type (head.h) is
// NaN; use float64 there. Of float32 values below 2e-31 and upstream gradients below 5e-36 results
// may be 0.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/half.h"
#include "core/base/parallel.h"
#include "core/base/tensor.h"
#include "core/call/plan.h"

namespace conelab {

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

}  // namespace conelab
