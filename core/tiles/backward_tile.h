// One tile of the backward pass, and the pairs in it that are treated by themselves.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/buffer.h"
#include "core/tiles/head.h"
#include "core/tiles/key_operands.h"
#include "core/tiles/parameter_sums.h"
#include "core/tiles/tile.h"

namespace conelab {

/// What the tickets of one head share: its queries, and the sums that go back to them.
template <class T>
struct BackwardHead {
  BackwardHead(Head<T> h, std::int64_t blocks)
      : head(std::move(h)), turn(static_cast<std::size_t>(blocks)) {}

  Head<T> head;
  bool keeps_queries = true;
  Operand<T> queries;                      ///< Empty where they are not kept.
  std::vector<T> reference, scale, delta;  ///< [n_q] See SlopeTile.
  Buffer<T> own_query_grad;                ///< Empty where the result's rows serve.
  T* query_grad = nullptr;                 ///< [n_q × stride] W K
  std::vector<T> query_slope;              ///< [n_q] dL/dpotential
  std::vector<T> query_margin;             ///< [n_q] sum_j w_ij
  std::vector<double> by_offset;           ///< dL/dlogit by relative position, or empty.
  std::vector<T> position_slopes;          ///< [n_q × positions] dL/dweight by position, or empty.
  std::vector<double> position_weights;    ///< [n_q × positions] The sums of weights, likewise.
  std::vector<std::atomic<int>> turn;      ///< [blocks] the tile that may add next.
};

/// What a ticket owns: one tile of keys, its gradients, and room for a block of queries against it.
template <class T>
struct KeyWork {
  /// `rows` are the queries of a block at most; the rest as of KeyOperands.
  template <class S>
  KeyWork(const Plan& plan, const Kernels<T>& kernels, const Head<T>& head, const S* keys,
          const S* values, std::int64_t first, int count, int rows)
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
  Buffer<T> key_grad, value_grad;   ///< [columns × base_stride] W^T Q, [columns × value_stride]
  Buffer<T> key_slope, key_margin;  ///< [columns] dL/dpotential, sum_i w_ij
  Buffer<T> far_key_slope;          ///< See SlopeTile.
  Buffer<T> query_grad;             ///< [rows × base_stride] Of sums of tangents only.
  Buffer<T> column_delta;           ///< [columns] v_j.dV_j under the softmax over queries.
  Operand<T> queries;               ///< A block of them, where the head keeps none.
  Buffer<T> upstream;               ///< [rows × value_stride] dL/doutput of the block, lifted.
  Buffer<T> tile, slope;            ///< [rows × columns]
  Buffer<T> logit_slope;            ///< [rows × columns] dL/dlogit; empty where it is not wanted.
  std::vector<double> by_offset;  ///< As BackwardHead's; empty where no two queries share a number.
  std::vector<T> row_slope, row_margin;  ///< [rows]
  ParameterSums sums;

  [[nodiscard]] const KeyTile<T>& keys() const { return keys_; }

 private:
  KeyTile<T> keys_;

  /// Whether a ticket sums dL/dlogit by offset.
  static bool gathers(const HeadBias<T>& bias) {
    return bias.has_gradient() && !bias.of_pairs() && !bias.of_queries();
  }
  [[nodiscard]] std::size_t columns() const { return size_of(operands.tile().columns); }
  static std::size_t size_of(std::ptrdiff_t n) { return static_cast<std::size_t>(n); }
};

}  // namespace conelab
