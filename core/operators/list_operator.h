// The common part of structured operators whose tokens attend to short lists of tokens: their first
// two parameters, the loop over heads, and the division of a head into blocks of rows.
//   template <class T>
//   class StarHead {                       // one head of one batch element
//    public:
//     StarHead(const Plan& plan, const PartValues& values, const T* x);
//     void forward(T* output, const Execution& run) const;
//     // Sets dx and adds to the gradients of the parameters.
//     void backward(const T* output_grad, T* dx, PartValues& gradient, const Execution& run) const;
//   };
//   struct Star : ListOperator<StarHead> { parameters, masks, info, flops };
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/operators/structured.h"
#include "core/operators/token_list.h"

namespace conelab {

/// Positions of the first two parameters of each such operator.
enum { list_scale, list_steps };
inline constexpr ParameterInfo list_parameters[] = {
    {"scale", std::numeric_limits<double>::quiet_NaN(), Domain::any, true,
     "factor of the products of tokens", "", "", "1/sqrt(d)"},
    {"steps", 2, Domain::whole, false, "times that all tokens are updated"}};

/// The number of rows in a block.
constexpr std::int64_t block_of_rows = 256;
[[nodiscard]] constexpr std::int64_t blocks_of_rows(std::int64_t n) {
  return (n + block_of_rows - 1) / block_of_rows;
}
/// Calls work(block, first, count) for all blocks of n rows.
template <class Work>
void for_row_blocks(std::int64_t n, const Execution& run, const Work& work) {
  run_tasks(blocks_of_rows(n), run, [&](std::int64_t block, const auto&) {
    const std::int64_t first = block * block_of_rows;
    work(block, first, std::min(block_of_rows, n - first));
  });
}

/// Does the same with work(first, count, part), where `part` begins as a copy of `zero`, and adds
/// these parts to `total` in the order of the blocks.
template <class Sum, class Work>
void sum_row_blocks(std::int64_t n, const Execution& run, const Sum& zero, Sum& total,
                    const Work& work) {
  std::vector<Sum> parts(static_cast<std::size_t>(blocks_of_rows(n)), zero);
  for_row_blocks(n, run, [&](std::int64_t block, std::int64_t first, std::int64_t count) {
    work(first, count, parts[static_cast<std::size_t>(block)]);
  });
  for (const Sum& part : parts) total.add(part);
}

/// The steps of a head. `next(state, t, place, execution)` returns the state after step t, counted
/// from 0, given the one before. If `place` [n × d] is not null, it writes the tokens to it.
struct Steps {
  std::int64_t count;

  /// Calls `next` for all steps, for the last one with place = output.
  template <class State, class T, class Next>
  void run(State state, T* output, const Execution& run, const Next& next) const {
    for (std::int64_t t = 0; t < count; ++t) {
      T* place = t + 1 < count ? nullptr : output;
      state = next(state, t, place, stage(run, share(t), share(t + 1)));
    }
  }
  /// Returns the state before the first step and the states after each step, which a backward pass
  /// needs. Counts as a quarter of that pass in the reported progress.
  template <class State, class Next>
  [[nodiscard]] std::vector<State> states(State first, const Execution& run,
                                          const Next& next) const {
    std::vector<State> all;
    all.push_back(std::move(first));
    for (std::int64_t t = 0; t < count; ++t) {
      all.push_back(next(all.back(), t, nullptr, stage(run, share(t) / 4, share(t + 1) / 4)));
    }
    return all;
  }

 private:
  [[nodiscard]] double share(std::int64_t t) const {
    return static_cast<double>(t) / static_cast<double>(count);
  }
};

/// The tokens of one head as dense rows. If they are not dense in memory, which must outlive this
/// object, they are copied.
template <class T>
class DenseTokens {
 public:
  explicit DenseTokens(const TokenRows<const T>& tokens) : data_(tokens.data) {
    if (tokens.stride == tokens.columns) return;
    copy_.resize(static_cast<std::size_t>(tokens.count * tokens.columns));
    copy_tokens(tokens, copy_.data());
    data_ = copy_.data();
  }
  DenseTokens(const DenseTokens&) = delete;
  DenseTokens& operator=(const DenseTokens&) = delete;

  [[nodiscard]] const T* data() const { return data_; }  ///< [count × columns]

 private:
  std::vector<T> copy_;
  const T* data_;
};

template <template <class> class Head>
struct ListOperator {
  /// Returns the default of `scale`.
  static double initial(int, const DefaultContext& context) {
    return 1 / std::sqrt(std::max(1.0, static_cast<double>(context.feature)));
  }

  /// Returns the operations of all heads and steps, given those of one step. The backward pass
  /// takes three times as many as the forward pass.
  static double flops_of_steps(const Plan& plan, Pass pass, double step) {
    double steps = 0;
    for (std::int64_t h = 0; h < plan.extents.head; ++h) {
      steps += plan.values(plan.operator_parameters, h)[list_steps];
    }
    return static_cast<double>(plan.extents.batch) * steps * step * (pass == Pass::forward ? 1 : 3);
  }

  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    return forward_by_head<T>(plan, run, [&](auto b, auto h, auto& output, const Execution& own) {
      const DenseTokens<T> x(input.query.tokens(b, h));
      head(plan, input, h, x.data()).forward(output.row(b, h, 0), own);
    });
  }

  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input, const Forward<T>&,
                              const Execution& run) {
    return backward_by_head<T>(
        plan, input, run,
        [&](auto b, auto h, const auto& upstream, auto& result, auto& gradient, const auto& own) {
          const DenseTokens<T> x(input.query.tokens(b, h)), g(upstream.tokens(b, h));
          head(plan, input, h, x.data())
              .backward(g.data(), result.query.row(b, h, 0), gradient, own);
        });
  }

 private:
  template <class T>
  static Head<T> head(const Plan& plan, const AttentionInput<T>& input, std::int64_t h,
                      const T* x) {
    return Head<T>(plan, plan.values(plan.operator_parameters, h, input.tensors), x);
  }
};

}  // namespace conelab
