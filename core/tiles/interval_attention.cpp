#include "core/tiles/interval_attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/base/finite.h"
#include "core/tiles/four_sums.h"
#include "core/tiles/head.h"
#include "core/tiles/parameter_sums.h"
#include "core/tiles/shared_rows.h"
#include "core/tiles/upstream.h"

namespace conelab {
namespace {

/// Heads with fewer tokens are distributed over the threads, one thread for each, if there are
/// enough.
constexpr std::int64_t tokens_of_thread = 8192;

/// Sets a row [columns] to (numbers, last, 0, ...).
template <class N, class T>
void set_row(const N* numbers, std::int64_t count, T last, std::ptrdiff_t columns, T* row) {
  std::transform(numbers, numbers + count, row, [](N x) { return static_cast<T>(x); });
  row[count] = last;
  std::fill(row + count + 1, row + columns, T(0));
}

/// Calls set(token, row) for each of these tokens and its row [columns]. The `numbers` [tokens ×
/// width] that this reads are fetched in advance, as they may lie anywhere.
template <class T, class N, class Set>
void set_rows(std::span<const std::int32_t> tokens, const TokenRows<const N>& numbers,
              std::ptrdiff_t columns, T* rows, const Set& set) {
  constexpr std::size_t ahead = 12;
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    const N* later = numbers.row(tokens[std::min(k + ahead, tokens.size() - 1)]);
    for (std::int64_t c = 0; c < numbers.columns; c += 64 / static_cast<int>(sizeof(N))) {
      __builtin_prefetch(later + c);
    }
    set(tokens[k], rows + static_cast<std::ptrdiff_t>(k) * columns);
  }
}

/// One head: its tokens as intervals, times gamma.
template <class S>
class IntervalHead {
  using T = Compute<S>;
  using Place = Coordinate<T>;

  int panel_;
  std::ptrdiff_t columns_;

 public:
  IntervalHead(const Plan& plan, const AttentionInput<S>& input, const Kernels<T>& kernels,
               std::int64_t index, std::ptrdiff_t columns, const Execution& run)
      : panel_(kernels.panel), columns_(columns), head(plan, kernels, input, index) {
    double constants[max_constants] = {};
    const std::int64_t heads = plan.extents.head, b = index / heads, h = index % heads;
    plan.similarity->constant(plan.values(plan.similarity_parameters, h).data(), constants);
    gamma = constants[0];
    rate = constants[1] / 2;
    queries = placed(input.query.tokens(b, h), "q", query_x, run);
    keys = placed(input.key.tokens(b, h, heads), "k", key_x, run);
    take_values(input.value.tokens(b, h, heads), run);
    for (const double x : key_x) centre += x / static_cast<double>(key_x.size());
  }

  Head<T> head;
  double gamma = 0, rate = 0;          ///< gamma and 1 / (2 sinh r).
  Intervals<T> queries, keys;          ///< The row of a key is (v_j, 1).
  std::vector<double> query_x, key_x;  ///< [tokens] Base coordinates.
  double centre = 0;                   ///< The mean of those of the keys.
  std::atomic<bool> is_finite{true};

  /// Adds the derivatives by one side's tokens to its gradient and to the sums of parameters.
  /// `by_upper` and `by_lower` are dL/d(gamma U) and dL/d(gamma W), whose sum over all tokens is 0,
  /// as a shift changes nothing: coordinates relative to the centre give the same sums of
  /// parameters, and lose fewer digits.
  template <class Out>
  void pull_back(const TokenRows<const S>& tokens, const Intervals<T>& intervals,
                 const std::vector<double>& x, const std::vector<double>& dots,
                 const TokenRows<Out>& dx, ParameterSums& sums) const {
    const auto n = static_cast<std::size_t>(tokens.count);
    Buffer<T> base(n), potential(n);
    const Place origin = Place(gamma) * Place(rate) * Place(centre);
    for (std::size_t i = 0; i < n; ++i) {
      const double upper = -dots[2 * i], lower = dots[2 * i + 1];
      sums.constant[0] += (upper * static_cast<double>(intervals.upper[i] - origin) +
                           lower * static_cast<double>(intervals.lower[i] - origin)) /
                          gamma;
      sums.constant[1] += gamma * (upper + lower) * (x[i] - centre) / 2;
      base[i] = static_cast<T>(gamma * rate * (upper + lower));
      potential[i] = static_cast<T>(gamma * (upper - lower) / 2);
    }
    head.token_gradients(tokens, {base.data(), 1, potential.data()}, dx, sums.similarity.data());
  }

 private:
  Intervals<T> placed(const TokenRows<const S>& tokens, const char* name, std::vector<double>& x,
                      const Execution& run) {
    const auto n = static_cast<std::size_t>(tokens.count);
    Intervals<T> intervals;
    intervals.lower.resize(n);
    intervals.upper.resize(n);
    x.resize(n);
    const Place by_x = Place(gamma) * Place(rate), by_y(gamma / 2);
    run_blocks(tokens.count, tokens_of_block, run, [&](std::int64_t begin, std::int64_t end) {
      Operand<T> operand;
      head.place(tokens.part(begin, end - begin), end - begin, name, begin, panel_, operand);
      if (!operand.non_finite.empty()) is_finite = false;
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i), in = static_cast<std::size_t>(i - begin);
        x[at] = static_cast<double>(operand.base[in * static_cast<std::size_t>(operand.stride)]);
        const Place centre = by_x * Place(x[at]);
        const Place half = by_y * Place(static_cast<double>(operand.values[in]));
        intervals.upper[at] = centre + half;
        intervals.lower[at] = centre - half;
      }
    });
    return intervals;
  }

  void take_values(const TokenRows<const S>& values, const Execution& run) {
    run_blocks(values.count, tokens_of_block, run, [&](std::int64_t begin, std::int64_t end) {
      bool finite = true;
      for (std::int64_t j = begin; j < end; ++j) {
        finite = finite && all_finite(values.row(j), values.columns);
      }
      if (!finite) is_finite = false;
    });
    keys.set_rows = [values, columns = columns_](std::span<const std::int32_t> tokens, T* rows) {
      set_rows(tokens, values, columns, rows, [&](std::int64_t j, T* row) {
        set_row(values.row(j), values.columns, T(1), columns, row);
      });
    };
  }
};

/// Adds the two numbers of each row to those of its token.
template <class T>
std::vector<double> dots_of_tokens(const QuadrantSums<T>& sums, std::int64_t tokens) {
  std::vector<double> dots(static_cast<std::size_t>(2 * tokens), 0.0);
  for (std::size_t r = 0; r < sums.token.size(); ++r) {
    const auto at = 2 * static_cast<std::size_t>(sums.token[r]);
    dots[at] += sums.dots[2 * r];
    dots[at + 1] += sums.dots[2 * r + 1];
  }
  return dots;
}

/// What both passes have in common.
template <class S>
class IntervalPass {
  using T = Compute<S>;

 public:
  IntervalPass(const Plan& plan, const AttentionInput<S>& input, const Execution& run)
      : plan_(plan),
        input_(input),
        run_(run),
        kernels_(kernels<S>(run.simd, plan.extents.query)),
        mask_(plan.mask(input)),
        columns_(round_up<std::ptrdiff_t>(plan.extents.value + 1, sweep_columns)) {}

  /// Calls work(index, run) for each head of each batch element. Long heads, and few, come one
  /// after the other, each on all threads.
  void for_each_head(const std::function<void(std::int64_t, const Execution&)>& work) const {
    const Extents& e = plan_.extents;
    const std::int64_t heads = e.batch * e.head;
    const bool is_long = e.query + e.key >= tokens_of_thread;
    if (heads < (is_long ? 4 : 1) * thread_count(run_)) {
      for (std::int64_t index = 0; index < heads; ++index) {
        const auto share = static_cast<double>(heads);
        work(index, stage(run_, static_cast<double>(index) / share,
                          static_cast<double>(index + 1) / share));
      }
      return;
    }
    Execution one = quiet(run_);
    one.threads = 1;
    run_tasks(heads, run_, [&](std::int64_t index, const auto& stopped) {
      if (!stopped()) work(index, one);
    });
  }

 protected:
  const Plan& plan_;
  const AttentionInput<S>& input_;
  const Execution& run_;
  const Kernels<T>& kernels_;
  Mask mask_;
  std::ptrdiff_t columns_;
  std::atomic<bool> is_finite_{true};

  [[nodiscard]] std::vector<KeyRange> ranges(std::int64_t index) const {
    std::vector<KeyRange> ranges;
    for (std::int64_t i = 0; i < plan_.extents.query; ++i) {
      const KeyRange seen = mask_.range(index, i);
      ranges.push_back({std::max<std::int64_t>(0, seen.begin),
                        std::min<std::int64_t>(plan_.extents.key, seen.end)});
    }
    return ranges;
  }
  [[nodiscard]] std::int64_t batch_of(std::int64_t index) const {
    return index / plan_.extents.head;
  }
  [[nodiscard]] std::int64_t head_of(std::int64_t index) const {
    return index % plan_.extents.head;
  }
};

template <class S>
class IntervalForward : private IntervalPass<S> {
  using T = Compute<S>;
  using Place = Coordinate<T>;
  using IntervalPass<S>::plan_;
  using IntervalPass<S>::columns_;

 public:
  using IntervalPass<S>::IntervalPass;

  std::optional<Forward<S>> run() {
    result_ = empty_forward<S>(plan_);
    result_.evaluation = Evaluation::intervals;
    this->for_each_head([&](std::int64_t index, const Execution& run) { run_head(index, run); });
    if (!this->is_finite_) return std::nullopt;
    return std::move(result_);
  }

 private:
  Forward<S> result_;

  void run_head(std::int64_t index, const Execution& run) {
    if (!this->is_finite_) return;
    const IntervalHead<S> head(plan_, this->input_, this->kernels_, index, columns_, run);
    if (!head.is_finite) {
      this->is_finite_ = false;
      return;
    }
    const std::vector<KeyRange> ranges = this->ranges(index);
    const QuadrantSums<T> sums =
        referred_sums(head.keys, head.queries, {ranges, true}, columns_, run);
    const auto rows = static_cast<std::int64_t>(sums.token.size());
    run_blocks(rows, tokens_of_block, run, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) {
        const auto at = static_cast<std::size_t>(r);
        finish(index, sums.token[at], sums.reference[at], sums.sum.data() + r * columns_);
      }
    });
  }

  void finish(std::int64_t index, std::int64_t i, const Place& reference, const T* sum) {
    const std::int64_t b = this->batch_of(index), h = this->head_of(index);
    const std::int64_t width = plan_.extents.value;
    const T total = sum[width];
    if (total == 0) {
      *result_.lse.row(b, h, i) = -std::numeric_limits<T>::infinity();
      return;
    }
    S* output = result_.output.row(b, h, i);
    for (std::int64_t c = 0; c < width; ++c) output[c] = static_cast<S>(sum[c] / total);
    const auto m = static_cast<T>(static_cast<double>(reference));
    // The sum relative to the rounded reference.
    const double rounded = static_cast<double>(reference - Place(static_cast<double>(m)));
    const double row_sum = static_cast<double>(total) * std::exp(rounded);
    *result_.row_reference.row(b, h, i) = m;
    *result_.row_sum.row(b, h, i) = static_cast<T>(row_sum);
    *result_.lse.row(b, h, i) = static_cast<T>(static_cast<double>(m) + std::log(row_sum));
  }
};

template <class S>
class IntervalBackward : private IntervalPass<S> {
  using T = Compute<S>;
  using Place = Coordinate<T>;
  using IntervalPass<S>::plan_;
  using IntervalPass<S>::input_;
  using IntervalPass<S>::columns_;

 public:
  IntervalBackward(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                   const Execution& run)
      : IntervalPass<S>(plan, input, run),
        saved_(saved),
        upstream_(plan, input, saved),
        key_grad_(input.key.shape, plan.extents.head),
        value_grad_(input.value.shape, plan.extents.head),
        sums_(static_cast<std::size_t>(plan.extents.batch * plan.extents.head),
              ParameterSums(plan)) {}

  std::optional<Backward<S>> run() {
    result_.query = Tensor4<S>(input_.query.shape);
    this->for_each_head([&](std::int64_t index, const Execution& run) { run_head(index, run); });
    if (!this->is_finite_) return std::nullopt;
    result_.key = key_grad_.take();
    result_.value = value_grad_.take();
    add_parameter_gradients(plan_, sums_, result_);
    return std::move(result_);
  }

 private:
  const Forward<S>& saved_;
  Upstream<S> upstream_;
  SharedRows<S> key_grad_, value_grad_;
  std::vector<ParameterSums> sums_;
  Backward<S> result_;

  void run_head(std::int64_t index, const Execution& run) {
    if (!this->is_finite_) return;
    IntervalHead<S> head(plan_, input_, this->kernels_, index, columns_, run);
    set_upstream(index, head, run);
    if (!head.is_finite) {
      this->is_finite_ = false;
      return;
    }
    const std::vector<KeyRange> ranges = this->ranges(index);
    const std::int64_t b = this->batch_of(index), h = this->head_of(index);
    ParameterSums& sums = sums_[static_cast<std::size_t>(index)];
    {
      const auto of_queries = sums_by_quadrant(head.keys, head.queries, {ranges, true}, columns_,
                                               false, stage(run, 0, 0.4));
      head.pull_back(input_.query.tokens(b, h), head.queries, head.query_x,
                     dots_of_tokens(of_queries, plan_.extents.query), result_.query.tokens(b, h),
                     sums);
    }
    const auto of_keys = sums_by_quadrant(head.queries, head.keys, {ranges, false}, columns_, true,
                                          stage(run, 0.4, 1));
    const auto keys = input_.key.tokens(b, h, plan_.extents.head);
    Buffer<T> dk(static_cast<std::size_t>(keys.count * keys.columns));
    head.pull_back(keys, head.keys, head.key_x, dots_of_tokens(of_keys, keys.count),
                   TokenRows<T>{dk.data(), keys.count, keys.columns, keys.columns}, sums);
    key_grad_.add(b, h, 0, std::move(dk));
    value_grad_.add(b, h, 0, value_gradient(of_keys));
    sums.bias = plan_.zeros(plan_.bias_parameters);
  }

  /// Makes the row of a query (dO_i, -dO_i.o_i), and its weight 1 / sum_j e^logit.
  void set_upstream(std::int64_t index, IntervalHead<S>& head, const Execution& run) const {
    const std::int64_t b = this->batch_of(index), h = this->head_of(index);
    const std::int64_t width = plan_.extents.value;
    const auto set = [this, b, h, width](std::int64_t i, T* row) {
      const T* upstream = upstream_.extended(b, h, i, 1, width, row);
      set_row(upstream, width, -upstream_.delta(b, h, i), columns_, row);
    };
    head.queries.set_rows = [this, b, h, set](std::span<const std::int32_t> tokens, T* rows) {
      set_rows(tokens, std::as_const(saved_.output).tokens(b, h), columns_, rows, set);
    };
    head.queries.weight.resize(static_cast<std::size_t>(plan_.extents.query));
    run_blocks(plan_.extents.query, tokens_of_block, run,
               [&](std::int64_t begin, std::int64_t end) {
                 std::vector<T> row(static_cast<std::size_t>(columns_));
                 for (std::int64_t i = begin; i < end; ++i) {
                   set(i, row.data());
                   if (!all_finite(row.data(), columns_)) head.is_finite = false;
                   head.queries.weight[static_cast<std::size_t>(i)] = log_scale(b, h, i);
                 }
               });
  }

  /// Returns -log sum_j e^logit of a query, or 0 if it sees no key.
  [[nodiscard]] Place log_scale(std::int64_t b, std::int64_t h, std::int64_t i) const {
    const double sum = static_cast<double>(*saved_.row_sum.row(b, h, i));
    const double m = static_cast<double>(*saved_.row_reference.row(b, h, i));
    return sum == 0 ? Place(0.0) : Place(-m) - Place(std::log(sum));
  }

  [[nodiscard]] Buffer<T> value_gradient(const QuadrantSums<T>& sums) const {
    const std::int64_t width = plan_.extents.value;
    Buffer<T> dv;
    dv.assign(static_cast<std::size_t>(plan_.extents.key * width), T(0));
    for (std::size_t r = 0; r < sums.token.size(); ++r) {
      const T* from = sums.sum.data() + static_cast<std::ptrdiff_t>(r) * columns_;
      T* to = dv.data() + sums.token[r] * width;
      for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
    }
    return dv;
  }
};

}  // namespace

template <class S>
bool takes_intervals(const Plan& plan, const Mask& mask, Pass pass) {
  if (plan.evaluation != Evaluation::automatic) return plan.evaluation == Evaluation::intervals;
  const Extents& e = plan.extents;
  const bool forward = pass == Pass::forward, wide = std::is_same_v<Compute<S>, double>;
  const auto queries = static_cast<double>(e.query), keys = static_cast<double>(e.key);
  const auto width = static_cast<double>(e.value);
  const double share = mask.share();
  const double of_pair =
      forward ? (0.4 + 0.018 * width) * (wide ? 3.3 : 1) : (6 + 0.029 * width) * (wide ? 1.4 : 1);
  // The depth of the tree of tokens above the nodes whose pairs are summed one by one.
  const double depth = std::max(1.0, std::log2(std::max(1.0, (queries + keys) * share / 32)));
  const double of_token =
      (share < 1 ? depth * (129 + 0.33 * width) : 120 + depth * (30 + 0.3 * width)) *
      (forward ? 1 : 2.6) * (wide ? 1.8 : 1);
  return (queries + keys) * of_token < share * queries * keys * of_pair;
}

template <class S>
std::optional<Forward<S>> interval_forward(const Plan& plan, const AttentionInput<S>& input,
                                           const Execution& run) {
  return IntervalForward<S>(plan, input, run).run();
}
template <class S>
std::optional<Backward<S>> interval_backward(const Plan& plan, const AttentionInput<S>& input,
                                             const Forward<S>& saved, const Execution& run) {
  return IntervalBackward<S>(plan, input, saved, run).run();
}

#define CONELAB_INTERVAL_ATTENTION(S)                                                          \
  template bool takes_intervals<S>(const Plan&, const Mask&, Pass);                            \
  template std::optional<Forward<S>> interval_forward(const Plan&, const AttentionInput<S>&,   \
                                                      const Execution&);                       \
  template std::optional<Backward<S>> interval_backward(const Plan&, const AttentionInput<S>&, \
                                                        const Forward<S>&, const Execution&);
CONELAB_EACH_TYPE(CONELAB_INTERVAL_ATTENTION)

}  // namespace conelab
