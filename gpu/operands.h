// The host's side of a call on a device: tensors to operands before, sums to results after.
//
// Everything that costs O(n) stays with the parts of core, in double where they compute so: maps
// and their gradients, the similarity's numbers per token, the midpoint's lift, tables of biases,
// ranges of masks. The device computes what costs O(n^2). Nothing here needs CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/call/plan.h"
#include "core/tiles/attention.h"
#include "core/tiles/head.h"
#include "gpu/tile/problem.h"

namespace conelab::gpu {

template <class N>
struct Operands {
  Problem<N> shape;  ///< Extents filled in, pointers null.
  std::vector<std::byte> query_base, key_base, value;
  std::vector<N> query_values, key_values, query_offset, key_offset, value_mark;
  std::vector<N> constants, bias, bias_slope;
  std::vector<std::uint8_t> allowed;
  std::vector<KeySpan> span;
  std::vector<BlockSpan> block_span;
  std::vector<Head<N>> heads;                         ///< [group]
  std::vector<std::vector<std::int64_t>> non_finite_values;  ///< [group] keys whose value is not finite

  /// The problem with pointers to where `place(array)` says that the array lies.
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
    p.allowed = place(allowed);
    p.span = place(span);
    p.block_span = place(block_span);
    return p;
  }
};

/// Places every token and rounds base and values to `storage`; squared norms come from the rounded
/// numbers. Throws as `Head::place` does.
template <class N>
[[nodiscard]] Operands<N> make_operands(const Plan& plan, const AttentionInput<N>& input,
                                        Storage storage, const Execution& execution);

/// What forward leaves behind, as arrays of a ForwardResult.
template <class N>
struct ForwardSums {
  std::vector<N> output, maximum, sum;
  /// Sized for a problem.
  explicit ForwardSums(const Problem<N>& p);
};
template <class N>
[[nodiscard]] Forward<N> finish_forward(const Plan& plan, const AttentionInput<N>& input,
                                        const Operands<N>& operands, const ForwardSums<N>& sums,
                                        const Execution& execution = {});

/// Arrays of an Upstream.
template <class N>
struct UpstreamArrays {
  std::vector<N> output_grad, reference, inverse_sum, delta;
  template <class Place>
  [[nodiscard]] Upstream<N> view(Place place) const {
    return {place(output_grad), place(reference), place(inverse_sum), place(delta)};
  }
};
template <class N>
[[nodiscard]] UpstreamArrays<N> make_upstream(const Plan& plan, const AttentionInput<N>& input,
                                              const Problem<N>& p, const Forward<N>& saved);

/// Arrays of a GradientResult.
template <class N>
struct GradientSums {
  std::vector<N> query_base, query_potential, key_base, key_potential, value;
  std::vector<double> sums;
  GradientSums(const Problem<N>& p, int constants);
};
template <class N>
[[nodiscard]] Backward<N> finish_backward(const Plan& plan, const AttentionInput<N>& input,
                                          const Operands<N>& operands, const GradientSums<N>& sums,
                                          const Execution& execution = {});

}  // namespace conelab::gpu
