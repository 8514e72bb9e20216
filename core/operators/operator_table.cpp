// The rows of operators: attention, then the structured ones, in the order in which they are
// listed.
#include <array>
#include <type_traits>

#include "core/operators/agglomerative.h"
#include "core/operators/attention.h"

namespace conelab {
namespace {

/// A structured operator computes in float or double; 16-bit tensors are widened.
template <class O, class S>
Forward<S> forward_of(const Plan& plan, const AttentionInput<S>& input, const Execution& run) {
  check_input(plan, input);
  if constexpr (std::is_same_v<S, Compute<S>>) {
    return O::template forward<S>(plan, input, run);
  } else {
    Forward<S> result;
    result.output = convert<S>(O::template forward<float>(plan, convert<float>(input), run).output);
    return result;
  }
}

template <class O, class S>
Backward<S> backward_of(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                        const Execution& run) {
  check_input(plan, input);
  if constexpr (std::is_same_v<S, Compute<S>>) {
    return O::template backward<S>(plan, input, saved, run);
  } else {
    Forward<float> wide;
    wide.output = convert<float>(saved.output);
    Backward<float> result = O::template backward<float>(plan, convert<float>(input), wide, run);
    return {convert<S>(result.query), convert<S>(result.key), convert<S>(result.value),
            std::move(result.parameters), std::move(result.tensors)};
  }
}

template <class O, class S>
constexpr OperatorFunctions<S> structured_functions{&forward_of<O, S>, &backward_of<O, S>};

template <class O>
OperatorRow row() {
  return {O::info,
          &O::check,
          &O::flops,
          false,
          structured_functions<O, double>,
          structured_functions<O, float>,
          structured_functions<O, Float16>,
          structured_functions<O, Bfloat16>};
}

}  // namespace

std::span<const OperatorRow> operator_table() {
  static const std::array table{attention_row(), row<Agglomerative>()};
  return table;
}

}  // namespace conelab
