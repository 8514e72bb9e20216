// Star-Transformer: a ring of tokens. Each token attends to itself, its two neighbours, its own
// embedding and one relay token. The relay attends to itself and to all tokens.
//
//   h^0_i = e_i = x_i,   s^0 = relay, or the mean of the tokens
//   h^t_i = Att(h_i; h_{i-1}, h_i, h_{i+1}, e_i, s)              of step t-1, all i at once
//   s^t   = Att(s^{t-1}; s^{t-1}, h^t_0, ..., h^t_{n-1})
//   output = h^steps
//
// Att is that of core/operators/token_list.h. Star-Transformer (Guo et al. 2019), sections 3.1 and
// 3.2. boundary=cyclic takes indices modulo n, so that a token may be listed more than once.
// boundary=masked lists no neighbour beyond the ends; the published code pads the ends with zero
// keys instead, which receive weight.
//
// Cost: 24 n d operations in each step. This counts the last relay, although nothing reads it and
// it is not computed. Memory is O(n d), in the backward pass for each step.
#include <algorithm>
#include <array>
#include <vector>

#include "core/base/buffer.h"
#include "core/operators/list_operator.h"

namespace conelab {
namespace {

enum { star_boundary = list_steps + 1, star_relay };

/// The tokens and the relay after a step, and the log-sum-exp of the tokens' logits in it.
template <class T>
struct StarState {
  const T* token;           ///< [n x d] The input, the output or `own`.
  Buffer<T> own;            ///< [n x d] or empty
  std::vector<T> relay;     ///< [d]
  std::vector<double> lse;  ///< [n]
  double relay_lse = 0;
};

/// dL/d(state), and the gradients of what every step reads.
template <class T>
struct StarGradient {
  Buffer<T> token, earlier;  ///< [n x d] Of the tokens after a step and before it.
  std::vector<T> relay;      ///< [d]
  T* embedding;              ///< [n x d]
  double scale = 0;
};

template <class T>
class StarHead {
 public:
  StarHead(const Plan& plan, const PartValues& values, const T* x)
      : n_(plan.extents.query),
        d_(plan.extents.feature),
        steps_{static_cast<std::int64_t>(values.p[list_steps])},
        scale_(values.p[list_scale]),
        masked_(values.p[star_boundary] != 0),
        x_(x),
        relay_(values.tensor[star_relay].begin(), values.tensor[star_relay].end()) {}

  void forward(T* output, const Execution& run) const {
    steps_.run(initial(), output, run, step());
  }

  void backward(const T* output_grad, T* dx, PartValues& gradient, const Execution& run) const {
    const std::vector<StarState<T>> states = steps_.states(initial(), run, step());
    std::fill_n(dx, n_ * d_, T(0));
    StarGradient<T> of{{output_grad, output_grad + n_ * d_}, {}, row_of_zeros(), dx};
    of.earlier.resize(of.token.size());
    for (std::int64_t t = steps_.count - 1; t >= 0; --t) {
      const auto at = static_cast<std::size_t>(t);
      step_back(states[at], states[at + 1], t, of, quiet(run));
    }
    gradient.p[list_scale] += of.scale;
    std::vector<double>& of_relay = gradient.tensor[star_relay];
    for (std::size_t c = 0; c < of_relay.size(); ++c) {
      of_relay[c] += static_cast<double>(of.relay[c]);
    }
    const T of_mean = relay_.empty() ? T(1) / static_cast<T>(n_) : T(0);
    for (std::int64_t i = 0; i < n_ * d_; ++i) {
      const auto at = static_cast<std::size_t>(i), column = static_cast<std::size_t>(i % d_);
      dx[i] += of.token[at] + of_mean * of.relay[column];
    }
  }

 private:
  std::int64_t n_, d_;
  Steps steps_;
  double scale_;
  bool masked_;
  const T* x_;  ///< [n x d]
  /// [d], or empty, in which case the relay starts as the mean of the tokens.
  std::vector<T> relay_;

  [[nodiscard]] auto step() const {
    return [this](const auto&... arguments) { return next(arguments...); };
  }
  [[nodiscard]] std::vector<T> row_of_zeros() const {
    return std::vector<T>(static_cast<std::size_t>(d_));
  }
  [[nodiscard]] bool has_relay(std::int64_t t) const { return t + 1 < steps_.count; }

  [[nodiscard]] StarState<T> initial() const {
    return {x_, {}, relay_.empty() ? mean() : relay_, {}};
  }
  [[nodiscard]] std::vector<T> mean() const {
    std::vector<double> sum(static_cast<std::size_t>(d_));
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t c = 0; c < d_; ++c) {
        sum[static_cast<std::size_t>(c)] += static_cast<double>(x_[i * d_ + c]);
      }
    }
    std::vector<T> result;
    for (const double each : sum) result.push_back(static_cast<T>(each / static_cast<double>(n_)));
    return result;
  }

  /// Calls `visit(j)` for the tokens j of the ring that token i lists, itself included. The same
  /// tokens list token i.
  template <class Visit>
  void for_ring(std::int64_t i, const Visit& visit) const {
    for (std::int64_t j = i - 1; j <= i + 1; ++j) {
      const bool is_inside = 0 <= j && j < n_;
      if (is_inside || !masked_) visit((j + n_) % n_);
    }
  }
  [[nodiscard]] std::span<const TokenRun<T>> list(const StarState<T>& state, std::int64_t i,
                                                  std::array<TokenRun<T>, 5>& storage) const {
    std::size_t count = 0;
    for_ring(i, [&](std::int64_t j) { storage[count++] = {state.token + j * d_, 1}; });
    storage[count++] = {x_ + i * d_, 1};
    storage[count++] = {state.relay.data(), 1};
    return std::span(storage).first(count);
  }

  /// Returns the state after step t, counted from 0. If `place` [n x d] is not null, the tokens are
  /// written to it.
  StarState<T> next(const StarState<T>& before, std::int64_t t, T* place,
                    const Execution& run) const {
    StarState<T> after{
        place, {}, row_of_zeros(), std::vector<double>(static_cast<std::size_t>(n_))};
    if (place == nullptr) {
      after.own.resize(static_cast<std::size_t>(n_ * d_));
      after.token = place = after.own.data();
    }
    const ListAttention<T> empty(d_, scale_);
    ListAttention<T> relay = empty;
    const TokenRun<T> itself{before.relay.data(), 1};
    relay.add(before.relay.data(), {&itself, 1});
    sum_row_blocks(n_, run, empty, relay, [&](std::int64_t first, std::int64_t count, auto& part) {
      ListAttention<T> attention = empty;
      std::array<TokenRun<T>, 5> storage;
      for (std::int64_t i = first; i < first + count; ++i) {
        attention.start();
        attention.add(before.token + i * d_, list(before, i, storage));
        after.lse[static_cast<std::size_t>(i)] = attention.finish(place + i * d_);
      }
      const TokenRun<T> own{after.token + first * d_, count};
      if (has_relay(t)) part.add(before.relay.data(), {&own, 1});
    });
    if (has_relay(t)) after.relay_lse = relay.finish(after.relay.data());
    return after;
  }

  /// Computes the gradient of the state before step t, given that of the state after it.
  void step_back(const StarState<T>& before, const StarState<T>& after, std::int64_t t,
                 StarGradient<T>& of, const Execution& run) const {
    ListGradient<T> relay(d_, scale_);
    if (has_relay(t)) relay_back(before, after, of, relay, run);
    std::vector<double> at_output(static_cast<std::size_t>(n_));
    for_row_blocks(n_, run, [&](std::int64_t, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = first; i < first + count; ++i) {
        at_output[static_cast<std::size_t>(i)] =
            row_product(of.token.data() + i * d_, after.token + i * d_, d_);
      }
    });
    const QueryRun<T> queries{before.token, of.token.data(), after.lse.data(), at_output.data(),
                              n_};
    const ListGradient<T> zero(d_, scale_);
    sum_row_blocks(n_, run, zero, relay, [&](std::int64_t first, std::int64_t count, auto& part) {
      tokens_back(before, queries, first, count, of, part);
    });
    of.token.swap(of.earlier);
    of.relay.assign(relay.sum().begin(), relay.sum().end());
    of.scale += relay.of_scale();
  }

  /// Adds the gradients of the relay's attention to those of the tokens after the step and of the
  /// relay before it.
  void relay_back(const StarState<T>& before, const StarState<T>& after, StarGradient<T>& of,
                  ListGradient<T>& relay, const Execution& run) const {
    const double at_output = row_product(of.relay.data(), after.relay.data(), d_);
    const QueryRun<T> query{before.relay.data(), of.relay.data(), &after.relay_lse, &at_output, 1};
    const TokenRun<T> itself{before.relay.data(), 1};
    relay.through_query(query, {&itself, 1});
    relay.through_token(before.relay.data(), {&query, 1});
    const ListGradient<T> zero(d_, scale_);
    sum_row_blocks(n_, run, zero, relay, [&](std::int64_t first, std::int64_t count, auto& part) {
      const TokenRun<T> own{after.token + first * d_, count};
      part.through_query(query, {&own, 1});
      ListGradient<T> gradient = zero;
      for (std::int64_t i = first; i < first + count; ++i) {
        gradient.start();
        gradient.through_token(after.token + i * d_, {&query, 1});
        add_to_row(gradient, of.token.data() + i * d_);
      }
    });
  }

  /// Sets the gradients of a block of tokens before the step, adds to those of their embeddings,
  /// and adds the parts of the relay and of the scale to `part`.
  void tokens_back(const StarState<T>& before, const QueryRun<T>& queries, std::int64_t first,
                   std::int64_t count, StarGradient<T>& of, ListGradient<T>& part) const {
    ListGradient<T> gradient(d_, scale_);
    std::array<TokenRun<T>, 5> storage;
    for (std::int64_t i = first; i < first + count; ++i) {
      std::array<QueryRun<T>, 3> ring;
      std::size_t size = 0;
      for_ring(i, [&](std::int64_t j) { ring[size++] = queries.part(j, 1, d_); });
      gradient.start();
      gradient.through_query(queries.part(i, 1, d_), list(before, i, storage));
      gradient.through_token(before.token + i * d_, std::span(ring).first(size));
      std::copy(gradient.sum().begin(), gradient.sum().end(), of.earlier.begin() + i * d_);
      part.add_scale(gradient.of_scale());
      const QueryRun<T> own = queries.part(i, 1, d_);
      gradient.start();
      gradient.through_token(x_ + i * d_, {&own, 1});
      add_to_row(gradient, of.embedding + i * d_);
    }
    const QueryRun<T> block = queries.part(first, count, d_);
    part.through_token(before.relay.data(), {&block, 1});
  }

  static void add_to_row(const ListGradient<T>& gradient, T* row) {
    for (const double each : gradient.sum()) *row++ += static_cast<T>(each);
  }
};

struct Star : ListOperator<StarHead> {
  static constexpr std::array parameters{
      list_parameters[list_scale], list_parameters[list_steps],
      ParameterInfo{"boundary", 0, Domain::choice, false,
                    "masked: the first and the last token have one neighbour", "cyclic|masked"},
      ParameterInfo{"relay", 0, Domain::tensor, true,
                    "the relay at the start; absent: the mean of the tokens", "", "d"}};
  static constexpr const char* masks[] = {"full"};
  static constexpr OperatorInfo info{
      "star",
      "h_i = Att(h_i; h_{i-1}, h_i, h_{i+1}, x_i, s), s = Att(s; s, h), steps times; Att(u; c) = "
      "sum_j softmax_j(scale u.c_j) c_j",
      "Star-Transformer, sections 3.1 and 3.2",
      "n",
      parameters,
      masks};

  static double flops(const Plan& plan, Pass pass) {
    const Extents& e = plan.extents;
    const double tokens = static_cast<double>(e.query) * static_cast<double>(e.feature);
    return flops_of_steps(plan, pass, 24 * tokens);
  }
};

}  // namespace

OperatorRow star_row() { return structured_row<Star>(); }

}  // namespace conelab
