// The tensors of an attention call and their sizes.
#pragma once

#include <cstdint>
#include <vector>

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

/// FLOP of the products of one pass, the count used for rooflines: forward 2 n_q n_k (d + d_v) per
/// head, backward 2 n_q n_k (3 d + 2 d_v). Masked tiles are not subtracted.
[[nodiscard]] double forward_flops(const Extents& extents);
[[nodiscard]] double backward_flops(const Extents& extents);

}  // namespace conelab
