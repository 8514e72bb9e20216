// Attention by tiles of pairs, forward and backward, for a plan without maps of tokens. The public
// interface is core/operators/operator.h.
//
// 16-bit tensors are widened tile by tile; sums are in float and rounded once, at the end. Tile
// units represent the factors of such products by two bf16 numbers (core/simd/tile_products.h).
//
// Errors of float32, float16 and bfloat16 against float64 are at most twice those of the same
// formula evaluated plainly in that type. This holds for outputs and gradients, on tokens from
// N(0,1) with planted pairs of equal and nearly equal tokens. A row that sees a finite token whose
// mapped numbers exceed the range of its type (`reach` in model_map_formulas.h) is NaN; use float64
// there. Results may be 0 where float32 values are below 2e-31 or upstream gradients below 5e-36.
#pragma once

#include <cstdint>

#include "core/base/parallel.h"
#include "core/call/plan.h"

namespace conelab {

/// Computes the output for a plan. Throws a failure if the shapes of the input are not those of the
/// plan, or if a token lies outside its model.
template <class T>
[[nodiscard]] Forward<T> attention_forward(const Plan& plan, const AttentionInput<T>& input,
                                           const Execution& execution = {});
/// Computes the gradients. `saved` is what attention_forward returned for the same plan and input.
/// Throws as attention_forward does, and a failure if the shapes of `saved` are not those of the
/// plan.
template <class T>
[[nodiscard]] Backward<T> attention_backward(const Plan& plan, const AttentionInput<T>& input,
                                             const Forward<T>& saved,
                                             const Execution& execution = {});

/// Returns the settings of a run, with one thread if `passes` times the multiplications of a
/// forward pass are so few that others would wake when it has ended.
[[nodiscard]] inline Execution alone_if_short(const Extents& e, double passes,
                                              const Execution& run) {
  constexpr double most = 1 << 20;  // 50 to 100 us on one core.
  Execution own = run;
  const auto pairs = static_cast<double>(e.batch * e.head) * static_cast<double>(e.query * e.key);
  if (passes * pairs * static_cast<double>(e.feature + e.value) < most) own.threads = 1;
  return own;
}

/// Returns a result with the sizes of a plan, filled with zeros.
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

/// A rectangle of one head's map: rows [query_begin, query_end), columns [key_begin, key_end).
struct MapTile {
  std::int64_t batch, head, query_begin, query_end, key_begin, key_end;
};

/// Computes logits or weights of a rectangle into row-major `out`; the threads share the rows.
/// Masked logits are -inf, masked weights 0. `saved` is needed for weights only; values are not
/// read. Queries and keys must have the extents of the plan, which is not checked. Throws a failure
/// if the rectangle is not inside the map, or if `saved` is null for weights. An empty rectangle
/// leaves `out` as it is.
template <class T>
void pair_map_tile(const Plan& plan, const AttentionInput<T>& input, Map2d which,
                   const Forward<T>* saved, const MapTile& tile, Compute<T>* out,
                   const Execution& execution = {});

}  // namespace conelab
