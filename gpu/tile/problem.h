// One attention call for device code: plain pointers and extents, with all heads in one array.
//
// `N` is the number type of the arithmetic: float on the device, float or double in the host's
// tests. A group is one head of one batch element, group = batch * heads + head. Groups that share
// a head of k and v share the arrays of its tokens (Side::share). All arrays are row-major.
#pragma once

#include <cstdint>

#include "core/base/half.h"
#include "gpu/tile/block.h"

namespace conelab::gpu {

/// The number type of tensors in memory.
enum class Storage { f64, f32, f16, bf16 };

/// Returns the bytes of one number.
constexpr int storage_size(Storage storage) {
  return storage == Storage::f64 ? 8 : storage == Storage::f32 ? 4 : 2;
}

/// The tokens of one side (queries or keys) after the map.
template <class N>
struct Side {
  const void* base = nullptr;  ///< [group / share × count × base_stride] of Problem::storage
  /// [group / share × values × count] the similarity's numbers per token.
  const N* values = nullptr;
  /// [group / share × count] what a token adds to a pair's measure: the squared norm of the stored
  /// base for squared distances, 0 for products, NaN for a token that is not finite (its base is
  /// 0).
  const N* offset = nullptr;
  int count = 0;
  int share = 1;  ///< How many consecutive groups have the same tokens.

  /// Returns the place of a group's tokens.
  CONELAB_TILE std::int64_t of(int group) const { return group / share; }
};

/// The keys [begin, end) that a query sees.
struct KeySpan {
  int begin = 0, end = 0;
};

/// The keys that any query of a block sees, and the keys that all of them see.
struct BlockSpan {
  KeySpan any, all;
};

/// The side whose tokens are the rows of a block.
enum class Owner { query, key };

/// The pairs that a mask with holes admits. Each block of 64 tokens of one side lists the tokens of
/// the other side that form such a pair with any of its own.
struct PairLists {
  const int* first = nullptr;           ///< [lists × blocks + 1] A block's first entry.
  const int* token = nullptr;           ///< [entries] ascending in each block.
  const std::uint64_t* rows = nullptr;  ///< [entries] bit r: the pair with the block's token r.
};

/// The operands and extents of a call.
template <class N>
struct Problem {
  int groups = 0;
  int heads = 1;
  int base_size = 0;    ///< The number of base coordinates of a token.
  int base_stride = 0;  ///< The numbers of a token in memory: zeros follow the coordinates.
  int width = 0;        ///< The numbers of a value: d_v, or d_v + 1 for the Einstein midpoint.
  Storage storage = Storage::f32;
  bool sigmoid = false;
  bool normalised = true;  ///< Whether weights exp(logit) are divided by their sum.
  /// Says whether the weights of a key sum to 1: its log-sum-exp is subtracted from its logits.
  bool over_queries = false;
  Side<N> query, key;
  const void* value = nullptr;    ///< [group / key.share × n_k × width] of type `storage`
  const N* value_mark = nullptr;  ///< [group / key.share × n_k] 0, or NaN if it is not finite
  const N* constants = nullptr;   ///< [head × constants] of the similarity

  /// The bias of a pair is the sum of bias[key_place - query_place] over the axes: those of a grid,
  /// or one for a sequence.
  const N* bias = nullptr;        ///< [head × bias_size] or null
  const N* bias_slope = nullptr;  ///< [head × bias_slopes × bias_size] by each parameter, or null
  int bias_size = 0;
  int bias_slopes = 0;               ///< The number of the bias's parameters.
  int axes = 0;                      ///< 0: there is no such bias.
  const int* query_place = nullptr;  ///< [n_q × axes]
  const int* key_place = nullptr;    ///< [n_k × axes]

  /// Relative positions j - i form classes: for the bias shaw its clipped positions, for t5 its
  /// buckets.
  int classes = 0;
  const int* class_of = nullptr;  ///< [head × (n_q + n_k - 1)] by j - i + n_q - 1, or null
  const N* class_bias = nullptr;  ///< [group × n_q × classes] added to logits, or null
  bool sums_slopes = false;       ///< Whether dL/dlogit is summed by query and class,
  bool sums_weights = false;      ///< whether weights are.

  const KeySpan* span = nullptr;          ///< [batch × n_q]
  const BlockSpan* block_span = nullptr;  ///< [batch × ⌈n_q / 64⌉]
  /// 0 if spans say all of the mask. Otherwise the pairs are those of the lists; each batch element
  /// or each group has its own, or one serves all of them.
  int lists = 0;
  PairLists query_lists, key_lists;
};

/// Holds what the forward kernel writes: the sums of weight * value of each row.
template <class N>
struct ForwardResult {
  N* output = nullptr;        ///< [group × n_q × width]
  N* maximum = nullptr;       ///< [group × n_q] the row's reference m; 0 if it sees no key.
  N* sum = nullptr;           ///< [group × n_q] the sum of exp(logit - m), or sigmoid(logit) e^-m.
  N* column_lse = nullptr;    ///< [group × n_k] of over_queries: log-sum-exps, -inf if not seen.
  N* class_weight = nullptr;  ///< [group × n_q × classes] of sums_weights: sums of weights.
};

/// Holds what the backward kernels need besides the problem.
template <class N>
struct Upstream {
  const N* output_grad = nullptr;  ///< [group × n_q × width]
  /// [group × n_q] m: the weight is exp(logit - m), or sigmoid(logit) e^-m, times inverse_sum.
  const N* reference = nullptr;
  const N* inverse_sum = nullptr;  ///< [group × n_q]
  /// [group × n_q] the sum of output * output_grad over the row; of a sigmoid the factor that turns
  /// the weight into sigmoid(logit).
  const N* delta = nullptr;
  const N* column_lse = nullptr;  ///< [group × n_k] of over_queries
  /// [group × n_q] of over_queries: the ratio of weights to those of the backward pass.
  const N* unit = nullptr;
  const N* class_slope = nullptr;  ///< [group × n_q × classes] added to dL/d(weight), or null
};

/// Holds what the backward kernels write: gradients by base coordinates, by the potential
/// (core/similarity documents it) of each token, by values, and sums for the parameters.
template <class N>
struct GradientResult {
  N* query_base = nullptr;       ///< [group × n_q × base_size]
  N* query_potential = nullptr;  ///< [group × n_q]
  N* key_base = nullptr;         ///< [group × n_k × base_size]
  N* key_potential = nullptr;    ///< [group × n_k]
  N* value = nullptr;            ///< [group × n_k × width]
  double* sums = nullptr;        ///< [group × ⌈n_q / 64⌉ × (constants + bias_slopes)]
  N* column_delta = nullptr;     ///< [group × n_k] of over_queries: value times its gradient.
  N* class_slope = nullptr;      ///< [group × n_q × classes] of sums_slopes
  N* class_weight = nullptr;     ///< [group × n_q × classes] of sums_weights
};

/// The largest Problem::bias_slopes of the backward kernels.
constexpr int max_slopes = 6;

/// The tile that a block computes: a block of rows of a group, and a slice of output columns.
struct TilePlace {
  int group, block, slice;
};

/// Returns a / b, rounded up, for a >= 0 and b > 0.
CONELAB_TILE int ceil_div(int a, int b) { return (a + b - 1) / b; }

/// Returns number `index` of an array of type `storage`. It is exact unless a double is read as
/// float.
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
