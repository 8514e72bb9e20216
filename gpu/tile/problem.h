// One attention call as device code sees it: plain pointers and extents, every head in one array.
//
// `N` is the number type of the arithmetic: float on the device; the host's tests also take double.
// A group is one head of one batch element, group = batch * heads + head.
#pragma once

#include <cstdint>

#include "core/base/half.h"
#include "gpu/tile/block.h"

namespace conelab::gpu {

/// How the numbers of tensors lie in memory.
enum class Storage { f64, f32, f16, bf16 };

constexpr int storage_size(Storage storage) {
  return storage == Storage::f64 ? 8 : storage == Storage::f32 ? 4 : 2;
}

/// The tokens of one side, placed by the map.
template <class N>
struct Side {
  const void* base = nullptr;  ///< [group × count × base_size] of Problem::storage
  const N* values = nullptr;   ///< [group × values × count] numbers per token of the similarity
  /// [group × count]: what a token adds to a pair's measure. The squared norm of the stored base
  /// under distances, 0 under products, NaN for tokens that are not finite (their base is 0).
  const N* offset = nullptr;
  int count = 0;
};

/// Keys [begin, end) that a query sees.
struct KeySpan {
  int begin = 0, end = 0;
};

/// Of a block of queries: keys that any of them sees, and keys that all of them see.
struct BlockSpan {
  KeySpan any, all;
};

template <class N>
struct Problem {
  int groups = 0;
  int heads = 1;
  int base_size = 0;  ///< Base coordinates of a token.
  int width = 0;      ///< Aggregated numbers of a value; d_v, one more for the midpoint.
  Storage storage = Storage::f32;
  bool sigmoid = false;
  Side<N> query, key;
  const void* value = nullptr;            ///< [group × n_k × width] of `storage`
  const N* value_mark = nullptr;          ///< [group × n_k] 0, NaN where the value is not finite
  const N* constants = nullptr;           ///< [head × constants]
  const N* bias = nullptr;                ///< [head × (n_q + n_k - 1)] or null
  const N* bias_slope = nullptr;          ///< [head × bias_slopes × (n_q + n_k - 1)] or null
  int bias_slopes = 0;                    ///< Parameters of the bias.
  const std::uint8_t* allowed = nullptr;  ///< [n_q × n_k] or null
  const KeySpan* span = nullptr;          ///< [batch × n_q]
  const BlockSpan* block_span = nullptr;  ///< [batch × query blocks]
};

/// What forward writes: row sums of weight * value, divided by `sum` under softmax.
template <class N>
struct ForwardResult {
  N* output = nullptr;   ///< [group × n_q × width]
  N* maximum = nullptr;  ///< [group × n_q] reference m of the row; 0 where it sees nothing
  N* sum = nullptr;      ///< [group × n_q] sum of exp(logit - m), or of sigmoids
};

/// What backward needs beyond the problem.
template <class N>
struct Upstream {
  const N* output_grad = nullptr;  ///< [group × n_q × width]
  const N* reference = nullptr;    ///< [group × n_q] weight = exp(logit - reference) * inverse_sum
  const N* inverse_sum = nullptr;  ///< [group × n_q]
  const N* delta = nullptr;        ///< [group × n_q] sum of output * output_grad
};

template <class N>
struct GradientResult {
  N* query_base = nullptr;       ///< [group × n_q × base_size]
  N* query_potential = nullptr;  ///< [group × n_q]
  N* key_base = nullptr;         ///< [group × n_k × base_size]
  N* key_potential = nullptr;    ///< [group × n_k]
  N* value = nullptr;            ///< [group × n_k × width]
  double* sums = nullptr;        ///< [group × query blocks × (constants + bias_slopes)]
};

/// Which tile a block works on: rows of a group and a slice of the output's columns.
struct TilePlace {
  int group, block, slice;
};

CONELAB_TILE int ceil_div(int a, int b) { return (a + b - 1) / b; }

/// Number `index` of an array, exact unless double is read as float.
template <class N>
CONELAB_TILE N load(const void* data, Storage storage, std::int64_t index) {
  switch (storage) {
    case Storage::f64:
      return static_cast<N>(static_cast<const double*>(data)[index]);
    case Storage::f32:
      return static_cast<N>(static_cast<const float*>(data)[index]);
    case Storage::f16:
      return static_cast<N>(from_f16(static_cast<const std::uint16_t*>(data)[index]));
    case Storage::bf16:
      return static_cast<N>(from_bf16(static_cast<const std::uint16_t*>(data)[index]));
  }
  return N(0);
}

}  // namespace conelab::gpu
