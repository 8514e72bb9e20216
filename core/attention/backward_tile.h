// One tile of the backward pass, and the pairs in it that are treated by themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/attention/exact.h"
#include "core/attention/head.h"
#include "core/attention/parameter_sums.h"
#include "core/attention/tile.h"
#include "core/base/buffer.h"

namespace conelab {

/// What the tickets of one head share: its queries, and the sums that go back to them.
template <class T>
struct BackwardHead {
  BackwardHead(Head<T> h, std::int64_t blocks)
      : head(std::move(h)), turn(static_cast<std::size_t>(blocks)) {}

  Head<T> head;
  bool keeps_queries = true;
  Operand<T> queries;  ///< Empty where they are not kept.
  std::vector<T> reference, inverse_sum, delta;
  Buffer<T> own_query_grad;            ///< Empty where the result's rows serve.
  T* query_grad = nullptr;             ///< [n_q × stride] W K
  std::vector<T> query_slope;          ///< [n_q] dL/dpotential
  std::vector<T> query_margin;         ///< [n_q] sum_j w_ij
  std::vector<std::atomic<int>> turn;  ///< [blocks] the tile that may add next.
};

/// A pair whose gradient products would cancel: it is added by itself.
template <class T>
struct ClosePair {
  int row, column;
  double by_weight;  ///< dL/dweight - delta
  T slope;           ///< dL/dmeasure
};

/// What a ticket owns: one tile of keys and its gradients.
template <class T>
struct KeyWork {
  explicit KeyWork(const Plan& plan) : sums(plan) {}

  Operand<T> placed;
  Operand<T> queries;              ///< A block of them, where the head keeps none.
  Buffer<T> panels, value_panels;  ///< [depth × columns] of keys and values.
  int panel = 0;                   ///< Columns of a panel.
  int width = 0;                   ///< Numbers of a lifted value, the depth of its panels.
  Buffer<T> key_panels;            ///< Panels of the placed keys' coordinates.
  Buffer<T> upstream;              ///< [backward_rows × value_stride] dL/doutput of a block.
  KeyTile<T> keys;
  Buffer<T> key_grad, value_grad, key_slope, far_key_slope, key_margin;
  Buffer<T> tile, slope;                                 ///< [backward_rows × columns]
  std::vector<T> row_slope, row_margin, largest_weight;  ///< [backward_rows] of the current block
  std::vector<ClosePair<T>> close_pairs;
  std::vector<std::int64_t> bad_keys, bad_values;  ///< Not finite; indices within the head.
  ParameterSums sums;
};

/// Sharpens the decisive weights (exact.h), once the similarity's kernel has made weights and
/// slopes, as forward did; `upstream` [rows × stride] is dL/doutput of the group. (Shares of very
/// nearly least_share may differ between the passes by the rounding of sums.)
template <class T>
void sharpen_weights(const BackwardHead<T>& shared, KeyWork<T>& w, const Tiles<T>& tiles,
                     const QueryGroup<T>& group, const T* upstream, std::ptrdiff_t stride);

/// Sets the close pairs' slopes, from exact tokens, and adds what they make of them to all but dQ.
template <class T>
void add_close_pairs(bool sigmoid, const BackwardHead<T>& shared, KeyWork<T>& w,
                     const Tiles<T>& tiles, const QueryGroup<T>& group);

}  // namespace conelab
