// The host's part of an attention call on a device. Before the kernels it turns tensors into
// operands; after them it turns their sums into results.
//
// The host computes everything that costs O(n), with the functions of core and mostly in double:
// maps and their gradients, the similarity's values of tokens, the Lorentz factors of the Einstein
// midpoint, tables of biases, and the pairs of masks. The device computes what costs O(n^2).
// Nothing here needs CUDA.
//
// A group is one head of one batch element, group = batch * heads + head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/call/plan.h"
#include "core/operators/operator.h"
#include "core/tiles/head.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu {

/// The arrays of PairLists, owned.
struct ListArrays {
  std::vector<int> first{0}, token;
  std::vector<std::uint64_t> rows;
  template <class Place>
  [[nodiscard]] PairLists view(Place place) const {
    return {place(first), place(token), place(rows)};
  }
};

/// The arrays of a Problem, owned; gpu/tile/problem.h documents their shapes.
template <class N>
struct Operands {
  Problem<N> shape;  ///< Its extents are set; its pointers are null.
  std::vector<std::byte> query_base, key_base, value;
  std::vector<N> query_values, key_values, query_offset, key_offset, value_mark;
  std::vector<N> constants, bias, bias_slope, class_bias;
  std::vector<int> query_place, key_place, class_of;
  std::vector<KeySpan> span;
  std::vector<BlockSpan> block_span;
  ListArrays query_lists, key_lists;
  std::vector<Head<N>> heads;  ///< [group]
  std::vector<std::vector<std::int64_t>>
      non_finite_values;  ///< [group / key.share] keys whose value is not finite

  /// Returns the problem with its pointers set. `place(array)` returns the address of the array,
  /// for example in device memory.
  template <class Place>
  [[nodiscard]] Problem<N> view(Place place) const {
    Problem<N> p = shape;
    p.query.base = place(query_base);
    p.query.values = place(query_values);
    p.query.offset = place(query_offset);
    p.key.base = place(key_base);
    p.key.values = place(key_values);
    p.key.offset = place(key_offset);
    p.value = place(value);
    p.value_mark = place(value_mark);
    p.constants = place(constants);
    p.bias = place(bias);
    p.bias_slope = place(bias_slope);
    p.query_place = place(query_place);
    p.key_place = place(key_place);
    p.class_of = place(class_of);
    p.class_bias = place(class_bias);
    p.span = place(span);
    p.block_span = place(block_span);
    p.query_lists = query_lists.view(place);
    p.key_lists = key_lists.view(place);
    return p;
  }
};

/// Says that the backward kernels sum dL/dlogit by offset, so that nothing else is summed for the
/// bias.
template <class N>
void sum_by_offset(Operands<N>& operands) {
  operands.shape.bias_slopes = 0;
  operands.shape.sums_slopes = false;
}

/// Maps every token of `input` and rounds its base coordinates and values to `storage`. Squared
/// norms are those of the rounded numbers. Throws as `Head::place` does, for tokens outside the
/// domain.
template <class N>
[[nodiscard]] Operands<N> make_operands(const Plan& plan, const AttentionInput<N>& input,
                                        Storage storage, const Execution& execution);

/// Returns the part that no token decides: extents, constants, tables of biases, and masks.
template <class N>
[[nodiscard]] Operands<N> make_structure(const Plan& plan, Storage storage);

/// The arrays of a ForwardResult, owned.
template <class N>
struct ForwardSums {
  std::vector<N> output, maximum, sum, column_lse, class_weight;
  /// Allocates the arrays for the extents of `p`.
  explicit ForwardSums(const Problem<N>& p);
  template <class Place>
  [[nodiscard]] ForwardResult<N> view(Place place) {
    return {place(output), place(maximum), place(sum), place(column_lse), place(class_weight)};
  }
};
/// Turns the sums of the forward kernel into the engine's result: output [batch x head x n_q x
/// d_v], the log-sum-exp, and what `backward` needs. Rows that see a value that is not finite
/// become NaN.
template <class N>
[[nodiscard]] Forward<N> finish_forward(const Plan& plan, const AttentionInput<N>& input,
                                        const Operands<N>& operands, const ForwardSums<N>& sums,
                                        const Execution& execution = {});

/// The arrays of an Upstream, owned.
template <class N>
struct UpstreamArrays {
  std::vector<N> output_grad, reference, inverse_sum, delta, column_lse, unit, class_slope;
  template <class Place>
  [[nodiscard]] Upstream<N> view(Place place) const {
    return {place(output_grad), place(reference), place(inverse_sum), place(delta),
            place(column_lse),  place(unit),      place(class_slope)};
  }
};
/// Computes what the backward kernels need from the upstream gradient and the result `saved` of the
/// forward pass. Throws a failure if the bias has more parameters than the kernels sum.
template <class N>
[[nodiscard]] UpstreamArrays<N> make_upstream(const Plan& plan, const AttentionInput<N>& input,
                                              const Operands<N>& operands, const Forward<N>& saved);

/// The arrays of a GradientResult, owned.
template <class N>
struct GradientSums {
  std::vector<N> query_base, query_potential, key_base, key_potential, value;
  std::vector<double> sums;
  std::vector<N> column_delta, class_slope, class_weight;
  /// [group × bias_size] dL/dlogit by entry of Problem::bias, if kernels have summed it, in place
  /// of the sums of the bias's parameters.
  std::vector<double> by_offset;
  /// Allocates the arrays for the extents of `p` and a similarity with this number of constants.
  GradientSums(const Problem<N>& p, int constants);
  template <class Place>
  [[nodiscard]] GradientResult<N> view(Place place) {
    return {place(query_base),    place(query_potential), place(key_base),
            place(key_potential), place(value),           place(sums),
            place(column_delta),  place(class_slope),     place(class_weight)};
  }
};
/// Turns the sums of the backward kernels into gradients of query, key, value and parameters, by
/// the chain rule through the maps. `saved` is what `make_upstream` received.
template <class N>
[[nodiscard]] Backward<N> finish_backward(const Plan& plan, const AttentionInput<N>& input,
                                          const Operands<N>& operands, const Forward<N>& saved,
                                          const GradientSums<N>& sums,
                                          const Execution& execution = {});

}  // namespace conelab::gpu
