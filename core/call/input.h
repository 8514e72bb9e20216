// The tensors of an attention call and their sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/dropout.h"
#include "core/base/half.h"
#include "core/base/positions.h"
#include "core/base/strided_tensor.h"
#include "core/base/tensor_view.h"
#include "core/pair/mask.h"

namespace conelab {

/// Applies a list of explicit instantiations, which is a macro of a type, to every type of tensors.
#define CONELAB_EACH_TYPE(LIST) LIST(float) LIST(double) LIST(Float16) LIST(Bfloat16)

/// The sizes of a call, which are known before any number is read.
struct Extents {
  std::int64_t batch = 1;
  std::int64_t head = 1;
  std::int64_t query = 0;    ///< n_q
  std::int64_t key = 0;      ///< n_k
  std::int64_t feature = 0;  ///< d of query and key.
  std::int64_t value = 0;    ///< d_v
  /// Sizes of the tensors that are parameters, by name, with or without a leading axis of heads.
  std::map<std::string, std::vector<std::int64_t>> tensors = {};
  Positions positions = {};
  /// Heads of k and of v. Each serves `head` / `key_head` consecutive heads of q. 0: `head`.
  std::int64_t key_head = 0, value_head = 0;

  [[nodiscard]] std::int64_t key_heads() const { return key_head == 0 ? head : key_head; }
  [[nodiscard]] std::int64_t value_heads() const { return value_head == 0 ? head : value_head; }
  /// Returns where the tokens lie in their sequences.
  [[nodiscard]] Slice slice() const { return {positions, query, key}; }
};

/// The tensors of a call. `key` and `query` share d, `key` and `value` share n_k. The heads of
/// `key` and `value` may be fewer than those of `query`, which then are a multiple (grouped-query
/// heads). The first four may have any strides of batch elements, heads and tokens: they view
/// memory of the caller, which must outlive the input, or are assigned a Tensor4 and own it.
template <class T>
struct AttentionInput {
  StridedTensor4<T> query;  ///< [batch x head x n_q x d]
  StridedTensor4<T> key;    ///< [batch x key head x n_k x d]
  StridedTensor4<T> value;  ///< [batch x key head x n_k x d_v]
  /// dL/doutput in the output's sizes; empty: ones. Read by backward only.
  StridedTensor4<T> output_grad;
  /// Explicit mask, 1: the query may attend to the key. The mask "explicit" reads it.
  std::vector<std::uint8_t> allowed = {};
  /// [batch] Numbers of keys of the whole sequence that are not padding. The mask "padding" reads
  /// them.
  std::vector<std::int64_t> key_lengths = {};
  /// Parameters that are tensors, by name: "W", "t5_bias".
  std::map<std::string, Array<T>> tensors = {};
  /// Arrays of whole numbers, by name: "edge" [m x 2], which the mask "graph" reads.
  std::map<std::string, Array<std::int64_t>> indices = {};
  /// Which tokens of longer sequences these are. Only attention, the chain of parts, takes slices.
  Positions positions = {};
  /// [1 or batch x 1 or head x 1 or n_q x 1 or n_k] The sizes of `allowed`; without batch elements
  /// they are [1 x 1 x n_q x n_k].
  Shape4 allowed_sizes = {0, 1, 0, 0};
  /// The lists that masks make of "edge", shared by all calls and copies of this input.
  std::shared_ptr<GraphLists> graph = std::make_shared<GraphLists>();
  /// The numbers of the tensor "bias" in memory of the caller; `tensors` then has its sizes alone.
  /// Without memory, `tensors` has the numbers.
  TensorView bias = {};
  /// Says whether the backward pass computes the gradient of a bias that has a number for each
  /// pair.
  bool wants_bias_gradient = true;
  /// Says which weights are dropped. Only attention, the chain of parts, drops some, on the CPU.
  Dropout dropout = {};
};

/// Returns the sizes of a tensor [.. x n_q x n_k] with those of absent leading axes, 1.
[[nodiscard]] inline Shape4 pair_sizes(const std::vector<std::int64_t>& extents) {
  std::int64_t s[] = {1, 1, 1, 1};
  std::copy(extents.rbegin(), extents.rend(), std::rbegin(s));
  return {s[0], s[1], s[2], s[3]};
}
/// Throws a failure unless a tensor with these sizes stands for the pairs [batch x head x n_q x
/// n_k]: any of its axes may have the size 1.
void check_pair_sizes(const char* name, const Shape4& sizes, const Shape4& pairs);

/// Returns the sizes of an input's explicit mask.
template <class T>
[[nodiscard]] Shape4 mask_sizes(const AttentionInput<T>& input) {
  const Shape4 plain{1, 1, input.query.shape.token, input.key.shape.token};
  return input.allowed_sizes.batch == 0 ? plain : input.allowed_sizes;
}

/// Returns the same tensors in another type, of one of them the sizes alone.
template <class To, class From>
[[nodiscard]] std::map<std::string, Array<To>> converted_tensors(
    const std::map<std::string, Array<From>>& tensors, const std::string& without_numbers = "") {
  std::map<std::string, Array<To>> to;
  for (const auto& [name, tensor] : tensors) {
    to[name] = name == without_numbers ? Array<To>{tensor.extents, {}} : convert<To>(tensor);
  }
  return to;
}

/// Returns the same input with its tokens as `own` returns them, and with other parameters.
template <class To, class From, class Own>
[[nodiscard]] AttentionInput<To> with_tokens(const AttentionInput<From>& input, const Own& own,
                                             std::map<std::string, Array<To>> tensors) {
  return {own(input.query),          own(input.key), own(input.value),
          own(input.output_grad),    input.allowed,  input.key_lengths,
          std::move(tensors),        input.indices,  input.positions,
          input.allowed_sizes,       input.graph,    input.bias,
          input.wants_bias_gradient, input.dropout};
}

/// Returns the same input in another type. Its tensors are dense.
template <class To, class From>
[[nodiscard]] AttentionInput<To> convert(const AttentionInput<From>& input) {
  return with_tokens<To>(
      input, [](const auto& tokens) { return convert<To>(tokens); },
      converted_tensors<To>(input.tensors));
}

/// Checks that the shapes agree and returns the sizes. Throws a failure that names both operands
/// and both sizes.
template <class T>
[[nodiscard]] Extents check_extents(const AttentionInput<T>& input);
/// Throws a failure unless the heads of q are a multiple of the heads of `name`, which is k or v.
void check_shared_heads(const char* name, std::int64_t heads, std::int64_t own);

/// Return the floating-point operations of the products of one pass, as counted for rooflines: 2
/// n_q n_k (d + d_v) forward and 2 n_q n_k (3 d + 2 d_v) backward for each head of each batch
/// element. All pairs count, masked or not.
[[nodiscard]] double forward_flops(const Extents& extents);
[[nodiscard]] double backward_flops(const Extents& extents);

}  // namespace conelab
