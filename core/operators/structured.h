// The row of a structured operator, made from a struct that computes in float and double.
//
//   struct MeanPool {
//     static constexpr OperatorInfo info{...};
//     // Optional: throws misuse for what the domains of single parameters do not exclude.
//     static void check(const Plan& plan);
//     static double flops(const Plan& plan, Pass pass);
//     template <class T>
//     static Forward<T> forward(const Plan&, const AttentionInput<T>&, const Execution&);
//     template <class T>
//     static Backward<T> backward(const Plan&, const AttentionInput<T>&, const Forward<T>& saved,
//                                 const Execution&);
//   };
//   OperatorRow mean_pool_row() { return structured_row<MeanPool>(); }
#pragma once

#include <type_traits>
#include <utility>

#include "core/operators/operator.h"

namespace conelab {

/// A structured operator computes in float or double; 16-bit tensors are widened.
template <class O, class S>
Forward<S> forward_of(const Plan& plan, const AttentionInput<S>& input, const Execution& run) {
  check_input(plan, input);
  if constexpr (std::is_same_v<S, Compute<S>>) {
    if (!plan.inner) return O::template forward<S>(plan, input, run);
    return O::template forward<S>(*plan.inner, map_tokens(plan, input), run);
  } else {
    Forward<S> result;
    const Plan& own = plan.inner ? *plan.inner : plan;
    result.output =
        convert<S>(O::template forward<float>(own, map_tokens(plan, input), run).output);
    return result;
  }
}

template <class O, class S>
Backward<S> backward_of(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                        const Execution& run) {
  check_input(plan, input);
  if constexpr (std::is_same_v<S, Compute<S>>) {
    if (!plan.inner) return O::template backward<S>(plan, input, saved, run);
    return pull_back(plan, input,
                     O::template backward<S>(*plan.inner, map_tokens(plan, input), saved, run));
  } else {
    Forward<float> wide;
    wide.output = convert<float>(saved.output);
    const Plan& own = plan.inner ? *plan.inner : plan;
    Backward<float> result =
        pull_back(plan, convert<float>(input),
                  O::template backward<float>(own, map_tokens(plan, input), wide, run));
    return {convert<S>(result.query), convert<S>(result.key), convert<S>(result.value),
            std::move(result.parameters), std::move(result.tensors)};
  }
}

template <class O, class S>
constexpr OperatorFunctions<S> structured_functions{&forward_of<O, S>, &backward_of<O, S>};

template <class O>
void check_of(const Plan& plan) {
  if constexpr (requires { O::check(plan); }) O::check(plan);
}

template <class O>
[[nodiscard]] OperatorRow structured_row() {
  return {O::info,
          &check_of<O>,
          &O::flops,
          false,
          structured_functions<O, double>,
          structured_functions<O, float>,
          structured_functions<O, Float16>,
          structured_functions<O, Bfloat16>};
}

}  // namespace conelab
