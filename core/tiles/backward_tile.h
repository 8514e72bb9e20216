// The data of the backward pass: what a head shares, and one tile of keys.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/buffer.h"
#include "core/tiles/head.h"
#include "core/tiles/packed_keys.h"
#include "core/tiles/parameter_sums.h"
#include "core/tiles/tile.h"

namespace conelab {

/// Holds what the tasks of one head share: its queries, and the sums from which their gradients
/// follow.
template <class T>
struct BackwardHead {
  BackwardHead(Head<T> h, std::int64_t blocks)
      : head(std::move(h)), turn(static_cast<std::size_t>(blocks)) {}

  Head<T> head;
  bool keeps_queries = true;
  Operand<T> queries;                      ///< Empty if keeps_queries is false.
  std::vector<T> reference, scale, delta;  ///< [n_q] See SlopeTile.
  Buffer<T> own_query_grad;                ///< Empty if the rows of the result are used instead.
  /// [n_q × stride] W K, where W = dL/d(measure); dL/dq for Measure::tanh_sum.
  T* query_grad = nullptr;
  std::vector<T> query_slope;            ///< [n_q] dL/d(potential)
  std::vector<T> query_margin;           ///< [n_q] sum_j w_ij
  std::vector<double> by_offset;         ///< dL/dlogit in the layout of the bias's table, or empty.
  std::vector<T> position_slopes;        ///< [n_q × positions] dL/d(weight) by position, or empty.
  std::vector<double> position_weights;  ///< [n_q × positions] Sums of weights, or empty.
  /// [blocks] The tile of keys that may add to a block of queries next.
  std::vector<std::atomic<int>> turn;
};

/// The data of a task: one tile of keys, its gradients, and workspace for a block of queries.
template <class T>
struct KeyWork {
  /// `rows` is the maximum number of queries in a block. The other arguments are those of
  /// KeyOperands.
  template <class S>
  KeyWork(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head,
          const TokenRows<const S>& keys, const TokenRows<const S>& values, std::int64_t first,
          int count, int rows)
      : operands(plan, kernels, head, keys, values, first, count),
        key_grad(columns() * size_of(operands.base_stride()), T(0)),
        value_grad(columns() * size_of(operands.value_stride()), T(0)),
        key_slope(columns(), T(0)),
        key_margin(columns(), T(0)),
        far_key_slope(columns()),
        upstream(size_of(rows * operands.value_stride()), T(0)),
        tile(size_of(rows) * columns()),
        slope(tile.size()),
        logit_slope(head.bias().has_gradient() ? tile.size() : 0),
        by_offset(gathers(head.bias()) ? head.bias().sums() : 0),
        row_slope(size_of(rows)),
        row_margin(row_slope.size()),
        sums(plan),
        keys_(operands.tile()) {}

  KeyOperands<T> operands;
  /// [columns × base_stride] W^T Q and [columns × value_stride].
  Buffer<T> key_grad, value_grad;
  Buffer<T> key_slope, key_margin;  ///< [columns] dL/d(potential) and sum_i w_ij.
  Buffer<T> far_key_slope;          ///< [columns] See SlopeTile.
  Buffer<T> query_grad;             ///< [rows × base_stride] Used by Measure::tanh_sum only.
  Buffer<T> column_delta;           ///< [columns] v_j.dV_j under the softmax over queries.
  Operand<T> queries;               ///< The queries of a block if the head does not keep them.
  Buffer<T> upstream;               ///< [rows × value_stride] dL/d(sums of extended values).
  Buffer<T> tile, slope;            ///< [rows × columns] See SlopeTile.
  Buffer<T> logit_slope;            ///< [rows × columns] dL/dlogit; empty if not wanted.
  /// As in BackwardHead. Empty if each query has its own table.
  std::vector<double> by_offset;
  std::vector<T> row_slope, row_margin;  ///< [rows] dL/d(potential) and sum_j w_ij.
  ParameterSums sums;

  /// The keys that are computed now: a part of the tile (Tiles::seen_part) that begins at column
  /// `first()`. At first they are all.
  [[nodiscard]] const KeyTile<T>& keys() const { return keys_; }
  [[nodiscard]] std::ptrdiff_t first() const { return keys_.first - operands.tile().first; }
  void look_at(const KeyTile<T>& part) { keys_ = part; }
  /// Returns the row of the first of these keys in key_grad or value_grad, or in the placed keys.
  [[nodiscard]] T* key_grads() { return key_grad.data() + first() * operands.base_stride(); }
  [[nodiscard]] T* value_grads() { return value_grad.data() + first() * operands.value_stride(); }
  [[nodiscard]] const T* base() const { return operands.base() + first() * operands.base_stride(); }

 private:
  KeyTile<T> keys_;

  /// Returns whether a task sums dL/dlogit in its own by_offset.
  static bool gathers(const HeadBias<T>& bias) { return bias.has_gradient() && !bias.of_queries(); }
  [[nodiscard]] std::size_t columns() const { return size_of(operands.tile().columns); }
  static std::size_t size_of(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }
};

}  // namespace conelab
