// The bias of one head as a table over relative positions, or over pairs if each has its own
// number.
//
// On a grid the bias is the sum of one table for each axis over relative coordinates. A bias that
// depends on queries has one table for each query, t_i[c] = scale q_i . shaw_k[c] over the clipped
// relative position c (Shaw et al.), which takes O(n_q k) memory.
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

namespace conelab {

// Successive keys of one query, grouped by their clipped relative position c = clip(j - i', -k, k)
// + k (Shaw et al., section 3.2).

/// The first keys may share c = 0 and the last ones c = 2k; each key between them has its own c.
class ClippedRun {
 public:
  /// `offset` is j - i' of the first of `count` keys; `clip` is k.
  ClippedRun(std::int64_t offset, std::int64_t clip, std::int64_t count)
      : last_(2 * clip),
        first_(offset + clip),
        count_(count),
        left_(std::clamp<std::int64_t>(-first_, 0, count)),
        right_(std::clamp<std::int64_t>(last_ + 1 - first_, 0, count)) {}

  /// Sets out [count] to the entries c of a table [2k+1].
  template <class T>
  void spread(const T* table, T* out) const {
    std::fill(out, out + left_, table[0]);
    for (std::int64_t c = left_; c < right_; ++c) out[c] = table[first_ + c];
    std::fill(out + right_, out + count_, table[last_]);
  }
  /// Adds the numbers [count] of the keys to the entries c of sums [2k+1].
  template <class T, class N>
  void gather(const T* numbers, N* sums) const {
    double left = 0, right = 0;
    for (std::int64_t c = 0; c < left_; ++c) left += static_cast<double>(numbers[c]);
    for (std::int64_t c = left_; c < right_; ++c) sums[first_ + c] += static_cast<N>(numbers[c]);
    for (std::int64_t c = right_; c < count_; ++c) right += static_cast<double>(numbers[c]);
    sums[0] += static_cast<N>(left);
    sums[last_] += static_cast<N>(right);
  }

 private:
  std::int64_t last_, first_, count_;
  /// Keys before `left_` have c = 0; those from `right_` on have c = 2k.
  std::int64_t left_, right_;
};

template <class T>
class HeadBias {
 public:
  /// `values` are the parameters of the bias for this head. Throws misuse if the bias overflows at
  /// an offset that occurs in the plan.
  HeadBias(const Plan& plan, const PartValues& values);
  /// Computes the tables of a bias that depends on queries [n_q × d]. It does nothing for any other
  /// bias. `scale` multiplies the products.
  template <class S>
  void take_queries(const Kernels<T>& kernels, const TokenRows<const S>& queries, double scale);

  /// Returns whether the plan has a bias.
  [[nodiscard]] bool exists() const { return !table_.empty(); }
  /// Returns whether any parameter of the bias is differentiable.
  [[nodiscard]] bool has_gradient() const { return has_gradient_; }
  /// Returns whether the biases of a query with successive keys are contiguous in one table. This
  /// is so except on a grid of several axes and for a bias that depends on queries.
  [[nodiscard]] bool is_one_table() const { return axes_.size() == 1; }
  /// Returns a pointer to the bias of the pair (query, key), which those of the next keys follow.
  /// The same pointer for the next query is `stride()` numbers further. Requires is_one_table().
  [[nodiscard]] const T* values(std::int64_t query, std::int64_t key) const {
    return table_.data() + index(query, key);
  }
  [[nodiscard]] std::ptrdiff_t stride() const { return of_pairs() ? extents_.key : -1; }
  /// Returns whether each pair has its own number.
  [[nodiscard]] bool of_pairs() const { return row_->of_pairs; }
  /// Returns whether each query has its own table.
  [[nodiscard]] bool of_queries() const { return row_->of_queries; }
  /// Sets out [count] to the bias of a query with the keys from `key` on.
  void fill(std::int64_t query, std::int64_t key, std::int64_t count, T* out) const;
  /// Returns the index of a pair in the table: key - query + n_q - 1, or query * n_k + key if each
  /// pair has its own number.
  [[nodiscard]] std::ptrdiff_t index(std::int64_t query, std::int64_t key) const {
    return of_pairs() ? query * extents_.key + key : key - query + extents_.query - 1;
  }
  /// Returns the size of an array of sums that has the layout of the table.
  [[nodiscard]] std::size_t sums() const;
  /// Adds dL/dlogit [count] of a query with the keys from `key` on to sums in the layout of the
  /// table.
  void add(const Kernels<T>& kernels, std::int64_t query, std::int64_t key, std::int64_t count,
           const T* logit_slope, double* by_offset) const;
  /// Applies the chain rule: adds dL/d(parameters), given dL/dlogit summed in the layout of the
  /// table. It does nothing for a bias that depends on queries.
  void collect(const double* by_offset, PartValues& gradient) const;
  /// Does the same for a bias that depends on queries: adds dL/dq to query_grad [n_q × d] and
  /// dL/d(shaw_k) to `gradient`, and returns dL/d(scale).
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
  /// Returns, by j - i + n_q - 1, the class of the relative position: the clipped position of a
  /// bias that depends on queries, otherwise the number of its tensor that the bias equals.
  [[nodiscard]] std::vector<int> classes() const;
  /// Returns how many classes there are.
  [[nodiscard]] std::size_t class_count() const {
    return of_queries() ? static_cast<std::size_t>(positions())
                        : axes_.front().values.tensor.front().size();
  }

 private:
  /// One axis of relative positions.
  struct Axis {
    PartValues values;     ///< The parameters of the row along this axis.
    std::ptrdiff_t first;  ///< Index of its first entry in the table.
    std::int64_t count;
    std::int64_t zero;  ///< Index of offset 0, counted from `first`; of a slice also outside.
  };

  const BiasRow* row_;
  Extents extents_;
  Slice slice_;
  std::vector<Axis> axes_;
  Buffer<T> table_;
  /// [keys of the sequence × axes] Coordinates of the positions on a grid.
  std::vector<std::int32_t> coordinate_;
  /// [2 clip + 1 × d] shaw_k of a bias that depends on queries.
  std::vector<double> position_keys_;
  std::int64_t clip_ = 0;
  double scale_ = 0;
  bool has_gradient_ = false;

  void place_keys(const std::vector<std::int64_t>& sides);
  void tabulate(const Plan& plan);
  /// Returns the coordinates [axes] of a position.
  [[nodiscard]] const std::int32_t* point(std::int64_t position) const {
    return coordinate_.data() + position * static_cast<std::int64_t>(axes_.size());
  }
  [[nodiscard]] std::int64_t positions() const { return 2 * clip_ + 1; }
  [[nodiscard]] ClippedRun run(std::int64_t query, std::int64_t key, std::int64_t count) const {
    return {slice_.offset(query, key), clip_, count};
  }
};

// What a bias that depends on queries adds to the output (Shaw et al. eq. 3):
//
//   output_i += sum_j w_ij shaw_v[c],   c = clip(j - i', -k, k) + k
//
// The passes sum the weights of a query by c, which gives 2k + 1 numbers, and multiply these by
// shaw_v at the end. This class holds shaw_v of one head.

template <class T>
class PositionValues {
 public:
  /// `values` are the parameters of the bias for this head.
  PositionValues(const Plan& plan, const PartValues& values) : extents_(plan.extents) {
    if (!plan.bias->of_queries) return;
    const auto& given = values.tensor[static_cast<std::size_t>(RelativePositions::values)];
    table_.assign(given.begin(), given.end());
    clip_ = std::llround(values.p[static_cast<std::size_t>(RelativePositions::clip)]);
  }

  [[nodiscard]] bool exist() const { return !table_.empty(); }
  /// Returns 2k + 1, or 0 if there are no such values.
  [[nodiscard]] std::int64_t count() const { return exist() ? 2 * clip_ + 1 : 0; }
  /// Returns the positions c of successive keys of a query, the first of which is `key`.
  [[nodiscard]] ClippedRun run(std::int64_t query, std::int64_t key, std::int64_t keys) const {
    return {extents_.slice().offset(query, key), clip_, keys};
  }
  /// Adds the product of a query's weights by position [2k+1] and shaw_v to out [d_v].
  void add(const T* weights, T* out) const {
    const T* value = table_.data();
    for (std::int64_t c = 0; c < count(); ++c, value += extents_.value) {
      for (std::int64_t x = 0; x < extents_.value; ++x) out[x] += weights[c] * value[x];
    }
  }
  /// Sets slopes [2k+1] to dL/d(weight) by position, given dL/d(output) [d_v] of a query.
  void slopes(const Kernels<T>& kernels, const T* upstream, T* slopes) const {
    const auto size = static_cast<int>(extents_.value);
    for (std::int64_t c = 0; c < count(); ++c) {
      slopes[c] =
          static_cast<T>(kernels.exact_product(upstream, table_.data() + c * extents_.value, size));
    }
  }
  /// Adds to dL/d(shaw_v), given the weights by position and dL/d(output) of a query.
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
  std::int64_t clip_ = 0;
  std::vector<T> table_;  ///< [2k+1 × d_v] shaw_v; empty if there are no such values.
};

}  // namespace conelab
