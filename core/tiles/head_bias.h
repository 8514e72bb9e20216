// The bias of one head as a table over relative positions, or as the numbers of its pairs.
//
// On a grid the bias is the sum of one table for each axis over relative coordinates. A bias that
// depends on queries has one table for each query, t_i[c] = scale q_i . keys[c] over the rows c of
// its tensor (shaw_k of Shaw et al.), which takes O(n_q rows) memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/call/plan.h"
#include "core/simd/kernels.h"
#include "core/tiles/pair_bias.h"

namespace conelab {

/// The row c of a tensor for each relative position of the pairs of a plan, BiasRow::place. Offsets
/// in succession share a row or have successive rows, so that they lie in few runs.
class RelativeRows {
 public:
  RelativeRows() = default;
  /// `values` are the parameters of the row, which has a `place`.
  RelativeRows(const BiasRow& row, const Extents& extents, const PartValues& values);

  /// Sets out [count] to the entries of a table by row, for a query and the keys from `key` on.
  template <class T>
  void spread(std::int64_t query, std::int64_t key, std::int64_t count, const T* table,
              T* out) const {
    over_runs(query, key, count, [&](const Run& run, std::int64_t row, std::int64_t length) {
      if (run.step == 0) std::fill_n(out, length, table[row]);
      if (run.step != 0) std::copy_n(table + row, length, out);
      out += length;
    });
  }
  /// Adds the numbers [count] of those keys to the entries of sums by row.
  template <class T, class N>
  void gather(std::int64_t query, std::int64_t key, std::int64_t count, const T* numbers,
              N* sums) const {
    over_runs(query, key, count, [&](const Run& run, std::int64_t row, std::int64_t length) {
      double shared = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        if (run.step == 0) shared += static_cast<double>(numbers[i]);
        if (run.step != 0) sums[row + i] += static_cast<N>(numbers[i]);
      }
      if (run.step == 0) sums[row] += static_cast<N>(shared);
      numbers += length;
    });
  }
  /// Returns the rows by j - i + n_q - 1.
  [[nodiscard]] std::vector<int> all() const;

 private:
  struct Run {
    std::int64_t first;  ///< Its first pairs have j - i + n_q - 1 = first.
    std::int64_t row;    ///< Their row.
    std::int64_t step;   ///< 0: all share it. 1: each offset has the next one.
  };
  /// By `first`; the last one, which has no row, ends the offsets.
  std::vector<Run> runs_;
  std::int64_t queries_ = 0;

  /// Calls action(run, row of the first key, number of keys) for the keys in order.
  template <class Action>
  void over_runs(std::int64_t query, std::int64_t key, std::int64_t count, Action action) const {
    std::int64_t at = key - query + queries_ - 1;
    auto run = std::ranges::upper_bound(runs_, at, {}, &Run::first) - 1;
    for (const std::int64_t end = at + count; at < end; ++run) {
      const std::int64_t length = std::min(end, run[1].first) - at;
      action(*run, run->row + run->step * (at - run->first), length);
      at += length;
    }
  }
};

template <class T>
class HeadBias {
 public:
  /// `values` are the parameters of the bias for this head, `pairs` the numbers of its pairs if
  /// each has its own. Throws misuse if the bias overflows at an offset that occurs in the plan.
  HeadBias(const Plan& plan, const PartValues& values, const PairNumbers& pairs = {});
  /// Computes the tables of a bias that depends on queries [n_q × d]. It does nothing for any other
  /// bias. `scale` multiplies the products.
  template <class S>
  void take_queries(const Kernels<T>& kernels, const TokenRows<const S>& queries, double scale);

  /// Returns whether the plan has a bias.
  [[nodiscard]] bool exists() const { return !table_.empty() || pairs_.exist(); }
  /// Returns whether any parameter of the bias has a gradient.
  [[nodiscard]] bool has_gradient() const { return has_gradient_; }
  /// Returns whether the biases of a query with successive keys are contiguous in one table. This
  /// is so except on a grid of several axes, for numbers of pairs and for a bias that depends on
  /// queries.
  [[nodiscard]] bool is_one_table() const { return axes_.size() == 1; }
  /// Returns a pointer to the bias of the pair (query, key) if those of the next keys follow it in
  /// memory, otherwise null. The same pointer for the next query is `stride()` numbers further.
  [[nodiscard]] const T* values(std::int64_t query, std::int64_t key) const {
    if (of_pairs()) return pairs_.in_place<T>(query, key);
    return is_one_table() ? table_.data() + index(query, key) : nullptr;
  }
  [[nodiscard]] std::ptrdiff_t stride() const { return of_pairs() ? pairs_.stride() : -1; }
  /// Returns whether each pair has its own number.
  [[nodiscard]] bool of_pairs() const { return row_->of_pairs; }
  /// Returns whether each query has its own table.
  [[nodiscard]] bool of_queries() const { return row_->of_queries; }
  /// Sets out [count] to the bias of a query with the keys from `key` on.
  void fill(std::int64_t query, std::int64_t key, std::int64_t count, T* out) const;
  /// Returns the index of a pair in the table.
  [[nodiscard]] std::ptrdiff_t index(std::int64_t query, std::int64_t key) const {
    return key - query + extents_.query - 1;
  }
  /// Returns the size of an array of sums that has the layout of the table; 0 for numbers of pairs,
  /// whose gradient is summed in PairGradient.
  [[nodiscard]] std::size_t sums() const;
  /// Adds dL/dlogit [count] of a query with the keys from `key` on to sums in the layout of the
  /// table.
  void add(const Kernels<T>& kernels, std::int64_t query, std::int64_t key, std::int64_t count,
           const T* logit_slope, double* by_offset) const;
  /// Applies the chain rule: adds dL/d(parameters), given dL/dlogit summed in the layout of the
  /// table. It does nothing for a bias that depends on queries.
  void collect(const double* by_offset, PartValues& gradient) const;
  /// Does the same for a bias that depends on queries: adds dL/dq to query_grad [n_q × d] and
  /// dL/d(keys) to `gradient`, and returns dL/d(scale).
  template <class S>
  double collect_queries(const double* by_offset, const TokenRows<const S>& queries,
                         const TokenRows<S>& query_grad, PartValues& gradient) const;
  // A device looks the biases up itself. Of what follows it uses `classes` and `table` if each
  // query has its own table, otherwise all.

  /// Returns the numbers of the table, in the layout of the sums.
  [[nodiscard]] std::span<const T> table() const { return {table_.data(), sums()}; }
  [[nodiscard]] std::size_t axes() const { return axes_.size(); }
  /// Appends the places of all queries and keys on each axis. A pair's entry of the table on axis a
  /// is key_place[key * axes + a] - query_place[query * axes + a]; its bias is their sum.
  void places(std::vector<int>& query_place, std::vector<int>& key_place) const;
  /// Returns the derivatives of the table by one parameter along one axis.
  [[nodiscard]] std::vector<T> slope_table(std::size_t parameter, std::size_t axis) const;
  /// Adds dL/d(this parameter) to `gradient`.
  void add_number(std::size_t parameter, std::size_t axis, double slope,
                  PartValues& gradient) const {
    (is_one_table() ? gradient.p[parameter] : gradient.tensor[parameter][axis]) += slope;
  }
  /// Returns, by j - i + n_q - 1, the class of the relative position, the row of its tensors.
  /// Requires BiasRow::place.
  [[nodiscard]] std::vector<int> classes() const { return rows_.all(); }
  /// Returns how many classes there are.
  [[nodiscard]] std::int64_t class_count() const { return row_count_; }

 private:
  /// One axis of relative positions.
  struct Axis {
    PartValues values;     ///< The parameters of the row along this axis.
    std::ptrdiff_t first;  ///< Index of its first entry in the table.
    std::int64_t count;
    std::int64_t zero;  ///< Index of offset 0, counted from `first`; of a slice also outside.
  };

  const BiasRow* row_;
  PairNumbers pairs_;
  Extents extents_;
  Slice slice_;
  std::vector<Axis> axes_;
  Buffer<T> table_;
  /// [keys of the sequence × axes] Coordinates of the positions on a grid.
  std::vector<std::int32_t> coordinate_;
  /// [rows × d] The keys of a bias that depends on queries.
  std::vector<double> position_keys_;
  RelativeRows rows_;
  std::int64_t row_count_ = 0;
  double scale_ = 0;
  bool has_gradient_ = false;

  void place_keys(const std::vector<std::int64_t>& sides);
  void tabulate(const Plan& plan);
  /// Returns the coordinates [axes] of a position.
  [[nodiscard]] const std::int32_t* point(std::int64_t position) const {
    return coordinate_.data() + position * static_cast<std::int64_t>(axes_.size());
  }
};

// Holds what a bias that depends on queries adds to the output (Shaw et al. eq. 3):
//
//   output_i += sum_j w_ij values[c],   c = place(j - i')
//
// The passes sum the weights of a query by c, which gives a number for each row of `values`
// (shaw_v), and multiply these by it at the end. This class holds the values of one head.

template <class T>
class PositionValues {
 public:
  /// `values` are the parameters of the bias for this head.
  PositionValues(const Plan& plan, const PartValues& values) : extents_(plan.extents) {
    if (!plan.bias->of_queries) return;
    const auto& given = values.tensor[static_cast<std::size_t>(RelativePositions::values)];
    if (given.empty()) return;
    table_.assign(given.begin(), given.end());
    rows_ = RelativeRows(*plan.bias, plan.extents, values);
  }

  [[nodiscard]] bool exist() const { return !table_.empty(); }
  /// Returns the number of rows, or 0 if there are no such values.
  [[nodiscard]] std::int64_t count() const {
    return exist() ? std::ssize(table_) / extents_.value : 0;
  }
  /// Returns the rows c of the relative positions.
  [[nodiscard]] const RelativeRows& rows() const { return rows_; }
  /// Adds the product of a query's weights by row and the values to out [d_v].
  void add(const T* weights, T* out) const {
    const T* value = table_.data();
    for (std::int64_t c = 0; c < count(); ++c, value += extents_.value) {
      for (std::int64_t x = 0; x < extents_.value; ++x) out[x] += weights[c] * value[x];
    }
  }
  /// Sets slopes [rows] to dL/d(weight) by row, given dL/d(output) [d_v] of a query.
  void slopes(const Kernels<T>& kernels, const T* upstream, T* slopes) const {
    const auto size = static_cast<int>(extents_.value);
    for (std::int64_t c = 0; c < count(); ++c) {
      slopes[c] =
          static_cast<T>(kernels.exact_product(upstream, table_.data() + c * extents_.value, size));
    }
  }
  /// Adds to dL/d(values), given the weights by row and dL/d(output) of a query.
  void collect(const double* weights, const T* upstream, PartValues& gradient) const {
    double* out = gradient.tensor[static_cast<std::size_t>(RelativePositions::values)].data();
    for (std::int64_t c = 0; c < count(); ++c, out += extents_.value) {
      for (std::int64_t x = 0; x < extents_.value; ++x) {
        out[x] += weights[c] * static_cast<double>(upstream[x]);
      }
    }
  }

 private:
  Extents extents_;
  std::vector<T> table_;  ///< [rows × d_v]; empty if there are no such values.
  RelativeRows rows_;
};

}  // namespace conelab
