// Attention over tiles of pairs, forward and backward, for a plan without maps of tokens. The
// public interface is core/operators/operator.h.
//
// 16-bit tensors are widened tile by tile, computed in float and rounded once, at the end. Tile
// units keep 16 bits of the factors of 16-bit tensors (core/simd/tile_products.h).
//
// Errors of float32, float16 and bfloat16 against float64 are at most twice those of the same
// formula evaluated plainly in that type, on N(0,1) tokens with planted twins and near-twins,
// outputs and gradients. A row that sees a finite token beyond the reach of its type (head.h) is
// NaN; use float64 there. Of float32 values below 2e-31 and upstream gradients below 5e-36 results
// may be 0.
#pragma once

#include <cstdint>

#include "core/base/parallel.h"
#include "core/call/plan.h"

namespace conelab {

/// Computes the output of the chain of parts. Throws a failure where the input is not that of the
/// plan, and for a token that lies outside its model.
template <class T>
[[nodiscard]] Forward<T> attention_forward(const Plan& plan, const AttentionInput<T>& input,
                                           const Execution& execution = {});
/// Computes the gradients; `saved` is what `attention_forward` returned for the same plan and
/// input.
template <class T>
[[nodiscard]] Backward<T> attention_backward(const Plan& plan, const AttentionInput<T>& input,
                                             const Forward<T>& saved,
                                             const Execution& execution = {});

/// A result of a plan's sizes, filled with zeros.
template <class T>
[[nodiscard]] Forward<T> empty_forward(const Plan& plan) {
  const Extents& e = plan.extents;
  const Shape4 per_row{e.batch, e.head, e.query, 1};
  using N = Compute<T>;
  Forward<T> result{Tensor4<T>({e.batch, e.head, e.query, e.value}), Tensor4<N>(per_row),
                    Tensor4<N>(per_row), Tensor4<N>(per_row)};
  if (is_midpoint(plan.aggregate)) result.midpoint_sum = Tensor4<N>(per_row);
  return result;
}

enum class Map2d { logits, weights };

/// A rectangle of one head's map: rows [query_begin, query_end) x keys [key_begin, key_end).
struct MapTile {
  std::int64_t batch, head, query_begin, query_end, key_begin, key_end;
};

/// Fills row-major `out` with logits or weights of a rectangle; memory O(tile), rows shared by the
/// threads. Masked logits are -inf, masked weights 0. `saved` is needed for weights only; values
/// are not read. Queries and keys must have the plan's extents, which is not checked. Throws a
/// failure for a rectangle that is not within the map; an empty one is left alone.
template <class T>
void pair_map_tile(const Plan& plan, const AttentionInput<T>& input, Map2d which,
                   const Forward<T>* saved, const MapTile& tile, Compute<T>* out,
                   const Execution& execution = {});

/// The whole map, for figures and files: [batch x head x n_q x n_k].
template <class T>
[[nodiscard]] Tensor4<Compute<T>> pair_map(const Plan& plan, const AttentionInput<T>& input,
                                           Map2d which, const Execution& execution = {});

}  // namespace conelab
