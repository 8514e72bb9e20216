#include "core/tiles/sparse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/parallel.h"
#include "core/simd/row_reference.h"
#include "core/tiles/aggregate.h"
#include "core/tiles/capped_pairs.h"
#include "core/tiles/head.h"
#include "core/tiles/parameter_sums.h"
#include "core/tiles/row_weights.h"
#include "core/tiles/shared_rows.h"
#include "core/tiles/upstream.h"
#include "core/tiles/values.h"

namespace conelab {
namespace {

/// Queries of a task in the forward pass.
constexpr std::int64_t task_rows = 256;
/// Values that are gathered for one product.
constexpr int values_at_once = 64;

/// The tokens of one head as operands, and its extended values.
template <class S>
class SparseHead {
  using T = Compute<S>;

 public:
  SparseHead(const Plan& plan, const Kernels<T>& kernels, const AttentionInput<S>& input,
             std::int64_t batch, std::int64_t head)
      : plan_(plan),
        kernels_(kernels),
        head_(plan, kernels, input, batch * plan.extents.head + head),
        width_(aggregate_width(plan.aggregate, plan.extents.value)),
        stride_(value_stride(plan.aggregate, plan.extents.value, kernels.panel)),
        dropout_(input.dropout) {
    const Extents& e = plan.extents;
    place(input.query.tokens(batch, head), "q", queries_);
    place(input.key.tokens(batch, head, e.head), "k", keys_);
    values_.resize(static_cast<std::size_t>(e.key * stride_));
    const TokenRows<const S> values = input.value.tokens(batch, head, e.head);
    std::vector<std::int64_t> not_finite;
    extend_values(plan, head_.index(), values, 0, stride_, values_.data(), not_finite);
    // Only rows that see a value read it, so that it may stay NaN or infinite.
    for (const std::int64_t key : not_finite) {
      for (std::int64_t c = 0; c < e.value; ++c) {
        const T x = values.row(key)[c];
        values_[static_cast<std::size_t>(key * stride_ + c)] =
            plan.aggregate == Aggregate::mean ? x : std::numeric_limits<T>::quiet_NaN();
      }
    }
  }

  [[nodiscard]] const Head<T>& head() const { return head_; }
  [[nodiscard]] const Dropout& dropout() const { return dropout_; }
  [[nodiscard]] const Operand<T>& queries() const { return queries_; }
  [[nodiscard]] const Operand<T>& keys() const { return keys_; }
  /// Return the size of an extended value, and the leading dimension of extended values.
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] std::ptrdiff_t stride() const { return stride_; }
  [[nodiscard]] const T* value(std::int64_t key) const { return values_.data() + key * stride_; }
  /// Returns the product of an extended value and a vector of its size.
  [[nodiscard]] double value_product(std::int64_t key, const T* x) const {
    return kernels_.exact_product(value(key), x, width_);
  }
  [[nodiscard]] const T* base(const Operand<T>& tokens, std::int64_t i) const {
    return tokens.base.data() + i * tokens.stride;
  }
  [[nodiscard]] const Kernels<T>& kernels() const { return kernels_; }
  [[nodiscard]] const SimilarityKernels<T>& similarity() const {
    return kernels_.similarities[plan_.similarity - similarity_table().data()];
  }

  /// Returns the measure of a pair, NaN if one of its tokens is not finite.
  [[nodiscard]] T measure(std::int64_t query, std::int64_t key) const {
    if (contains(queries_.non_finite, query) || contains(keys_.non_finite, key)) {
      return std::numeric_limits<T>::quiet_NaN();
    }
    const T *q = base(queries_, query), *k = base(keys_, key);
    const int size = head_.base_size();
    switch (plan_.similarity->info.measure) {
      case Measure::product:
        return static_cast<T>(kernels_.exact_product(q, k, size));
      case Measure::squared_distance:
        return static_cast<T>(kernels_.exact_distance2(q, k, size));
      case Measure::tanh_sum:
        break;
    }
    T sum = 0;
    kernels_.tanh_sum(1, 1, size / 2, q, 0, k, 0, &sum, 0);
    return sum;
  }

 private:
  const Plan& plan_;
  const Kernels<T>& kernels_;
  Head<T> head_;
  int width_;
  std::ptrdiff_t stride_;
  Dropout dropout_;
  Operand<T> queries_, keys_;
  Buffer<T> values_;

  void place(const TokenRows<const S>& tokens, const char* name, Operand<T>& out) const {
    head_.place(tokens, tokens.count, name, 0, kernels_.panel, out);
  }
  static bool contains(const std::vector<std::int64_t>& sorted, std::int64_t i) {
    return !sorted.empty() && std::binary_search(sorted.begin(), sorted.end(), i);
  }
};

/// The pairs of one query as a tile with one row.
template <class S>
class SparseRow {
  using T = Compute<S>;

 public:
  /// `column_lse` [n_k] of the head's keys is subtracted from the logits; null: nothing is.
  SparseRow(const Plan& plan, const Kernels<T>& kernels, const SparseHead<S>& head,
            const Mask& mask, const T* column_lse)
      : plan_(plan),
        kernels_(kernels),
        head_(head),
        mask_(mask),
        column_lse_(column_lse),
        capped_(kernels, head.similarity(), head.head().soft_cap()) {
    std::copy_n(head.head().constants(), max_constants, constants_);
  }

  /// Gathers and measures the keys of a query. Returns false if it sees none.
  bool gather(std::int64_t query) {
    query_ = query;
    keys_ = mask_.keys(head_.head().index(), query);
    if (keys_.empty()) return false;
    columns_ = round_up(static_cast<int>(keys_.size()), kernels_.column_multiple);
    const auto columns = static_cast<std::size_t>(columns_);
    tile_.assign(columns, T(0));
    addend_.assign(columns, -std::numeric_limits<T>::infinity());
    lse_.clear();
    const int values = plan_.similarity->values;
    key_values_.assign(columns * static_cast<std::size_t>(std::max(1, values)), T(0));
    const HeadBias<T>& bias = head_.head().bias();
    for (std::size_t c = 0; c < keys_.size(); ++c) {
      tile_[c] = head_.measure(query, keys_[c]);
      addend_[c] = 0;
      if (bias.exists()) bias.fill(query, keys_[c], 1, &addend_[c]);
      if (column_lse_ != nullptr) lse_.push_back(column_lse_[keys_[c]]);
      if (column_lse_ != nullptr && !capped_.exist() &&
          lse_[c] != -std::numeric_limits<T>::infinity()) {
        addend_[c] -= lse_[c];
      }
      for (int v = 0; v < values; ++v) {
        key_values_[static_cast<std::size_t>(v) * columns + c] =
            head_.keys().values[static_cast<std::size_t>(v * head_.keys().value_stride + keys_[c])];
      }
    }
    return true;
  }

  /// Applies dropout to the weights in `tile`, or to other numbers [keys] of the same pairs.
  void drop() { drop(tile_.data()); }
  void drop(T* numbers) const {
    const Slice slice = plan_.extents.slice();
    const RowDropout row(head_.dropout(), head_.head().index(), slice.of_query(query_));
    for (std::size_t c = 0; head_.dropout().share > 0 && c < keys_.size(); ++c) {
      numbers[c] *= static_cast<T>(row.factor(slice.of_key(keys_[c])));
    }
  }

  /// Adds the values of the keys times the weights in `tile` to sums [stride]. The value of a key
  /// without weight need not be finite and is left out.
  void add_values(T* sums) {
    const std::ptrdiff_t stride = head_.stride();
    gathered_.resize(static_cast<std::size_t>(values_at_once * stride));
    T weights[values_at_once];
    int count = 0;
    const auto add_gathered = [&] {
      kernels_.product(1, static_cast<int>(stride), count, {weights, values_at_once, 1},
                       {gathered_.data(), stride, false}, sums, stride, Store::add);
      count = 0;
    };
    for (std::size_t c = 0; c < keys_.size(); ++c) {
      if (tile_[c] == 0) continue;
      weights[count] = tile_[c];
      std::copy_n(head_.value(keys_[c]), stride, gathered_.data() + count * stride);
      if (++count == values_at_once) add_gathered();
    }
    if (count > 0) add_gathered();
  }

  /// Returns the arguments of `similarity` for the keys that were gathered. It may be called once.
  [[nodiscard]] ScoreTile<T> score() {
    const Operand<T>& q = head_.queries();
    const ScoreTile<T> score{.tile = tile_.data(),
                             .stride = columns_,
                             .rows = 1,
                             .columns = columns_,
                             .query_values = q.values.data() + query_,
                             .query_stride = q.value_stride,
                             .key_values = key_values_.data(),
                             .key_stride = columns_,
                             .constants = constants_,
                             .addend = addend_.data(),
                             .addend_stride = columns_,
                             .least = nullptr,
                             .most = nullptr};
    return capped_.logits(score, lse_.empty() ? nullptr : lse_.data(),
                          static_cast<int>(keys_.size()), true);
  }
  /// Returns the kernels of the similarity, or those of its soft cap.
  [[nodiscard]] const SimilarityKernels<T>& similarity() const { return capped_.kernels(); }
  /// Does what Tiles::slopes does.
  void slopes(PairLaw law, const SlopeTile<T>& tile, double& cap_slope) {
    capped_.slopes(law, tile, cap_slope);
  }
  [[nodiscard]] const std::vector<std::int64_t>& keys() const { return keys_; }
  [[nodiscard]] std::size_t columns() const { return static_cast<std::size_t>(columns_); }
  [[nodiscard]] const Buffer<T>& tile() const { return tile_; }

 private:
  const Plan& plan_;
  const Kernels<T>& kernels_;
  const SparseHead<S>& head_;
  const Mask& mask_;
  std::int64_t query_ = 0;
  const T* column_lse_;
  T constants_[max_constants];
  std::vector<std::int64_t> keys_;
  int columns_ = 0;
  Buffer<T> tile_, addend_, key_values_;
  std::vector<T> lse_;  ///< Of the gathered keys; empty if column_lse_ is null.
  CappedPairs<T> capped_;
  Buffer<T> gathered_;  ///< [values_at_once × stride]
};

template <class S>
void forward_row(const Plan& plan, const SparseHead<S>& head, SparseRow<S>& row, std::int64_t b,
                 std::int64_t h, std::int64_t i, Forward<S>& result) {
  using T = Compute<S>;
  const PositionValues<T>& positions = head.head().position_values();
  std::vector<T> sums(static_cast<std::size_t>(head.stride() + positions.count()), T(0));
  T* by_position = sums.data() + head.stride();
  T reference = no_reference<T>, sum = 0, maximum = 0;
  if (row.gather(i)) {
    const WeightTile<T> tile{row.score(), &reference, &sum, &maximum, true};
    row.similarity().weight[pair_law(plan.weights)](tile);
    row.drop();
    row.add_values(sums.data());
    for (std::size_t c = 0; positions.exist() && c < row.keys().size(); ++c) {
      positions.rows().gather(i, row.keys()[c], 1, &row.tile()[c], by_position);
    }
    positions.add(by_position, sums.data());
  }
  finish_sums(plan, sums.data(), sum, reference, b * plan.extents.head + h, i, head.head().sink(),
              result);
}

/// Computes Forward::column_lse of one head.
template <class S>
void find_column_lse(SparseRow<S>& row, std::int64_t queries, std::span<Compute<S>> lse) {
  using T = Compute<S>;
  constexpr T none = -std::numeric_limits<T>::infinity();
  std::fill(lse.begin(), lse.end(), none);  // The largest logits so far.
  std::vector<double> sums(lse.size(), 0.0);
  for (std::int64_t i = 0; i < queries; ++i) {
    if (!row.gather(i)) continue;
    row.similarity().score(row.score());
    for (std::size_t c = 0; c < row.keys().size(); ++c) {
      const auto j = static_cast<std::size_t>(row.keys()[c]);
      const T logit = row.tile()[c], before = lse[j];
      if (logit == none) continue;
      if (logit > before) lse[j] = logit;
      if (lse[j] == none) lse[j] = 0;  // So far the column has only seen NaN.
      const double largest = lse[j];
      sums[j] =
          sums[j] * std::exp(before == none ? 0.0 : before - largest) + std::exp(logit - largest);
    }
  }
  for (std::size_t j = 0; j < lse.size(); ++j) {
    lse[j] = sums[j] == 0 ? none : static_cast<T>(lse[j] + std::log(sums[j]));
  }
}

/// Returns the entries of a head in Forward::column_lse, or null if it is empty.
template <class S>
const Compute<S>* columns_of(const Forward<S>& saved, std::int64_t b, std::int64_t h) {
  return saved.column_lse.empty() ? nullptr : saved.column_lse.row(b, h, 0);
}

/// The backward pass of one head, one query after the other.
template <class S>
class SparseBackward {
  using T = Compute<S>;

 public:
  SparseBackward(const Plan& plan, const Kernels<T>& kernels, const AttentionInput<S>& input,
                 const Forward<S>& saved, const Mask& mask, std::int64_t b, std::int64_t h)
      : plan_(plan),
        input_(input),
        saved_(saved),
        upstream_(plan, input, saved),
        b_(b),
        h_(h),
        head_(plan, kernels, input, b, h),
        row_(plan, kernels, head_, mask, columns_of(saved, b, h)),
        sums_(plan) {
    const Extents& e = plan.extents;
    sums_.bias = plan.zeros(plan.bias_parameters);
    by_query_ = Gradient(e.query, head_.queries().stride);
    by_key_ = Gradient(e.key, head_.keys().stride);
    value_grad_.assign(static_cast<std::size_t>(e.key * head_.stride()), T(0));
    if (head_.head().bias().has_gradient()) by_offset_.assign(head_.head().bias().sums(), 0.0);
  }

  /// Writes the head's queries of the result, adds its part of the gradients of k and v and of a
  /// bias of pairs, and returns the sums for its parameters.
  ParameterSums run(Backward<S>& result, SharedRows<S>& key_grad, SharedRows<S>& value_grads,
                    PairGradient* pair_grad, const std::function<bool()>& stopped) {
    const Extents& e = plan_.extents;
    if (!saved_.column_lse.empty()) find_column_deltas(stopped);
    for (std::int64_t i = 0; i < e.query && !stopped(); ++i) {
      add_row(i);
      if (pair_grad != nullptr && !add_pair_gradient(*pair_grad, i, stopped)) break;
    }
    const Head<T>& head = head_.head();
    const TokenRows<const S> queries = input_.query.tokens(b_, h_);
    head.token_gradients(queries, by_query_.operand(), result.query.tokens(b_, h_),
                         sums_.similarity.data());
    Buffer<T> dk(static_cast<std::size_t>(e.key * e.feature));
    Buffer<T> dv(static_cast<std::size_t>(e.key * e.value));
    head.token_gradients(input_.key.tokens(b_, h_, e.head), by_key_.operand(),
                         TokenRows<T>{dk.data(), e.key, e.feature, e.feature},
                         sums_.similarity.data());
    const TokenRows<const S> values = input_.value.tokens(b_, h_, e.head);
    for (std::int64_t j = 0; j < e.key; ++j) {
      set_value_grad(plan_.aggregate, value_grad(j), values.row(j), e.value,
                     dv.data() + j * e.value);
    }
    key_grad.add(b_, h_, 0, std::move(dk));
    value_grads.add(b_, h_, 0, std::move(dv));
    head.bias_gradients(by_offset_.data(), queries, result.query.tokens(b_, h_), sums_.bias,
                        sums_.similarity.data());
    sums_.sink = upstream_.sink_slope(b_, h_);
    return std::move(sums_);
  }

 private:
  /// dL/d(placed tokens): the derivatives by base coordinates and by potentials.
  struct Gradient {
    std::ptrdiff_t stride = 0;
    Buffer<T> base;
    std::vector<T> potential;

    Gradient() = default;
    Gradient(std::int64_t count, std::ptrdiff_t s) : stride(s) {
      base.assign(static_cast<std::size_t>(count * s), T(0));
      potential.assign(static_cast<std::size_t>(count), T(0));
    }
    [[nodiscard]] T* row(std::int64_t i) { return base.data() + i * stride; }
    [[nodiscard]] OperandGradient<T> operand() const {
      return {base.data(), stride, potential.data()};
    }
  };

  const Plan& plan_;
  const AttentionInput<S>& input_;
  const Forward<S>& saved_;
  Upstream<S> upstream_;
  std::int64_t b_, h_;
  SparseHead<S> head_;
  SparseRow<S> row_;
  ParameterSums sums_;
  Gradient by_query_, by_key_;
  Buffer<T> value_grad_;            ///< [n_k × stride] dL/d(extended value)
  std::vector<double> by_offset_;   ///< dL/dlogit in the layout of the bias's table, or empty.
  std::vector<T> position_slopes_;  ///< [positions] dL/d(weight) of a query by position, or empty.
  Buffer<T> column_delta_;          ///< [n_k] v_j.dV_j under the softmax over queries, else empty.
  Buffer<T> slope_, logit_slope_, key_slope_, room_, upstream_row_;

  const T* upstream_of(std::int64_t i) {
    upstream_row_.assign(static_cast<std::size_t>(head_.stride()), T(0));
    return upstream_.extended(b_, h_, i, 1, head_.stride(), upstream_row_.data());
  }

  /// Computes dV of the softmax over queries, and from it v_j.dV_j = sum_i w_ij dL/dw_ij.
  void find_column_deltas(const std::function<bool()>& stopped) {
    for (std::int64_t i = 0; i < plan_.extents.query && !stopped(); ++i) {
      if (!row_.gather(i)) continue;
      T reference = no_reference<T>, sum = 0, maximum = 0;
      row_.similarity().weight[referred_exponential](
          {row_.score(), &reference, &sum, &maximum, true});
      if (reference == no_reference<T>) continue;
      row_.drop();
      const T factor =
          std::exp(reference - *saved_.row_reference.row(b_, h_, i)) * upstream_.scale(b_, h_, i);
      const T* upstream = upstream_of(i);
      for (std::size_t c = 0; c < row_.keys().size(); ++c) {
        add_value(row_.keys()[c], factor * row_.tile()[c], upstream);
      }
    }
    for (std::int64_t j = 0; j < plan_.extents.key; ++j) {
      column_delta_.push_back(static_cast<T>(head_.value_product(j, value_grad(j))));
    }
  }

  [[nodiscard]] T* value_grad(std::int64_t j) { return value_grad_.data() + j * head_.stride(); }
  void add_value(std::int64_t j, T weight, const T* upstream) {
    T* sum = value_grad(j);
    for (int k = 0; k < head_.width(); ++k) sum[k] += weight * upstream[k];
  }

  void add_row(std::int64_t i) {
    if (!row_.gather(i)) return;
    slope_.assign(row_.columns(), T(0));
    logit_slope_.assign(row_.columns(), T(0));
    key_slope_.assign(row_.columns(), T(0));
    room_.assign(row_.columns(), T(0));
    const T* upstream = upstream_of(i);
    const T unit = column_delta_.empty() ? T(0) : upstream_.unit(b_, h_, i);
    const PositionValues<T>& positions = head_.head().position_values();
    position_slopes_.resize(static_cast<std::size_t>(positions.count()));
    positions.slopes(head_.kernels(), upstream, position_slopes_.data());
    for (std::size_t c = 0; c < row_.keys().size(); ++c) {
      const std::int64_t j = row_.keys()[c];
      T sum = static_cast<T>(head_.value_product(j, upstream));
      if (!position_slopes_.empty()) {
        T added = 0;
        positions.rows().spread(i, j, 1, position_slopes_.data(), &added);
        sum += added;
      }
      slope_[c] = sum;
    }
    row_.drop(slope_.data());
    for (std::size_t c = 0; !column_delta_.empty() && c < row_.keys().size(); ++c) {
      slope_[c] -= unit * column_delta_[static_cast<std::size_t>(row_.keys()[c])];
    }
    apply_formula(i);
    row_.drop();
    for (std::size_t c = 0; c < row_.keys().size(); ++c) add_pair(i, c, upstream);
    if (positions.exist()) add_position_weights(i, upstream);
  }

  /// Adds dL/dlogit of a query's pairs to the gradient of the bias in its turn. Returns false if
  /// the run was stopped meanwhile.
  bool add_pair_gradient(PairGradient& gradient, std::int64_t i,
                         const std::function<bool()>& stopped) {
    const PairGradient::Unit unit{b_, h_, 0, i};
    if (!gradient.wait(unit, stopped)) return false;
    for (std::size_t c = 0; c < row_.keys().size(); ++c) {
      gradient.add(unit, i, row_.keys()[c], 1, &logit_slope_[c]);
    }
    gradient.finish(unit);
    return true;
  }

  void add_position_weights(std::int64_t i, const T* upstream) {
    const PositionValues<T>& positions = head_.head().position_values();
    std::vector<double> weights(static_cast<std::size_t>(positions.count()), 0.0);
    for (std::size_t c = 0; c < row_.keys().size(); ++c) {
      positions.rows().gather(i, row_.keys()[c], 1, &row_.tile()[c], weights.data());
    }
    positions.collect(weights.data(), upstream, sums_.bias);
  }

  /// Computes the weights, dL/d(measure) and dL/dlogit of a row, given measures and dL/d(weight).
  void apply_formula(std::int64_t i) {
    const T reference = *saved_.row_reference.row(b_, h_, i);
    const T scale = upstream_.scale(b_, h_, i), delta = upstream_.delta(b_, h_, i);
    const SlopeTile<T> tile{.score = row_.score(),
                            .slope = slope_.data(),
                            .reference = &reference,
                            .inverse_sum = &scale,
                            .delta = &delta,
                            .query_slope = &by_query_.potential[static_cast<std::size_t>(i)],
                            .key_slope = key_slope_.data(),
                            .far_key_slope = room_.data(),
                            .constant_slope = sums_.constant.data(),
                            .logit_slope = logit_slope_.data()};
    row_.slopes(pair_law(plan_.weights), tile, sums_.soft_cap);
  }

  void add_pair(std::int64_t i, std::size_t c, const T* upstream) {
    const std::int64_t j = row_.keys()[c];
    const T slope = slope_[c];
    if (column_delta_.empty()) add_value(j, row_.tile()[c], upstream);
    by_key_.potential[static_cast<std::size_t>(j)] += key_slope_[c];
    if (!by_offset_.empty()) {
      head_.head().bias().add(head_.kernels(), i, j, 1, &logit_slope_[c], by_offset_.data());
    }
    const T* q = head_.base(head_.queries(), i);
    const T* k = head_.base(head_.keys(), j);
    T *dq = by_query_.row(i), *dk = by_key_.row(j);
    const int size = head_.head().base_size();
    switch (plan_.similarity->info.measure) {
      case Measure::product:
        for (int x = 0; x < size; ++x) {
          dq[x] += slope * k[x];
          dk[x] += slope * q[x];
        }
        break;
      case Measure::squared_distance:
        for (int x = 0; x < size; ++x) {
          const T part = 2 * slope * (q[x] - k[x]);
          dq[x] += part;
          dk[x] -= part;
        }
        break;
      case Measure::tanh_sum:
        head_.kernels().tanh_sum_slopes(1, 1, size / 2, q, 0, k, 0, &slope, 0, dq, dk);
        break;
    }
  }
};

}  // namespace

template <class S>
Forward<S> sparse_forward(const Plan& plan, const AttentionInput<S>& input, const Execution& run) {
  const Extents& e = plan.extents;
  const Kernels<Compute<S>>& k = kernels<S>(run.simd, 1);
  const Mask mask = plan.mask(input);
  Forward<S> result = empty_forward<S>(plan);
  const bool over_queries = plan.weights == WeightLaw::softmax_over_queries;
  if (over_queries) result.column_lse = Tensor4<Compute<S>>({e.batch, e.head, e.key, 1});
  for (std::int64_t b = 0; b < e.batch; ++b) {
    for (std::int64_t h = 0; h < e.head; ++h) {
      const SparseHead<S> head(plan, k, input, b, h);
      if (over_queries) {
        SparseRow<S> row(plan, k, head, mask, nullptr);
        find_column_lse(row, e.query,
                        {result.column_lse.row(b, h, 0), static_cast<std::size_t>(e.key)});
      }
      const std::int64_t tasks = (e.query + task_rows - 1) / task_rows;
      const double done = static_cast<double>(b * e.head + h);
      const double heads = static_cast<double>(e.batch * e.head);
      run_tasks(tasks, stage(run, done / heads, (done + 1) / heads),
                [&](std::int64_t task, const auto&) {
                  SparseRow<S> row(plan, k, head, mask, columns_of(result, b, h));
                  const std::int64_t end = std::min(e.query, (task + 1) * task_rows);
                  for (std::int64_t i = task * task_rows; i < end; ++i) {
                    forward_row(plan, head, row, b, h, i, result);
                  }
                });
    }
  }
  return result;
}

template <class S>
Backward<S> sparse_backward(const Plan& plan, const AttentionInput<S>& input,
                            const Forward<S>& saved, const Execution& run) {
  const Extents& e = plan.extents;
  const Kernels<Compute<S>>& k = kernels<S>(run.simd, 1);
  const Mask mask = plan.mask(input);
  Backward<S> result;
  result.query = Tensor4<S>(input.query.shape);
  SharedRows<S> key_grad(input.key.shape, e.head), value_grad(input.value.shape, e.head);
  std::vector<ParameterSums> sums(static_cast<std::size_t>(e.batch * e.head), ParameterSums(plan));
  std::optional<PairGradient> pair_grad;
  if (Array<double>* into = pair_gradient_of(plan, input, result)) {
    pair_grad.emplace(plan, 1, e.query, *into);
  }
  run_tasks(e.batch * e.head, run, [&](std::int64_t index, const auto& stopped) {
    SparseBackward<S> pass(plan, k, input, saved, mask, index / e.head, index % e.head);
    sums[static_cast<std::size_t>(index)] =
        pass.run(result, key_grad, value_grad, pair_grad ? &*pair_grad : nullptr, stopped);
  });
  result.key = key_grad.take();
  result.value = value_grad.take();
  add_parameter_gradients(plan, sums, result);
  return result;
}

#define CONELAB_SPARSE(S)                                                                        \
  template Forward<S> sparse_forward(const Plan&, const AttentionInput<S>&, const Execution&);   \
  template Backward<S> sparse_backward(const Plan&, const AttentionInput<S>&, const Forward<S>&, \
                                       const Execution&);
CONELAB_EACH_TYPE(CONELAB_SPARSE)

}  // namespace conelab
