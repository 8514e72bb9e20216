// Makes the row of a structured operator from a struct that computes in float and double.
//
//   struct MeanPool {
//     static constexpr OperatorInfo info{...};
//     // forward_by_head and backward_by_head loop over the heads.
//     template <class T>
//     static Forward<T> forward(const Plan&, const AttentionInput<T>&, const Execution&);
//     template <class T>
//     static Backward<T> backward(const Plan&, const AttentionInput<T>&, const Forward<T>& saved,
//                                 const Execution&);
//     // Returns the operations of a pass. With a third argument, `double share`, for an operator
//     // on pairs: the share of them that its masks admit.
//     static double flops(const Plan& plan, Pass pass);
//
//     // All that follows is optional.
//     // Returns the parameters of a call, if their shapes depend on its words. Lists show
//     // those of `info`.
//     static std::span<const ParameterInfo> parameters_of(const Call& call);
//     // Throws misuse for what the domains of single parameters do not exclude.
//     static void check(const Plan& plan);
//     // Returns the default of a parameter whose `initial` is NaN, also of a choice.
//     static double initial(int index, const DefaultContext& context);
//     // Changes a tensor that was drawn at random into one that the operator accepts.
//     static void adjust_drawn(const Plan& plan, Array<double>& tensor);
//     // Returns the bytes of memory that a pass needs beyond O(n), for instance for all pairs.
//     static double working_bytes(const Plan& plan);
//     // Sets plan.output and plan.pairs, if the output does not have the sizes of q.
//     static void set_sizes(Plan& plan);
//     // Together: the weights or logits of pairs, like PairMap::tile.
//     static bool has_map(const Plan& plan, Map2d which);
//     template <class T>
//     static void map(const Plan&, const AttentionInput<T>&, Map2d, const Forward<T>* saved,
//                     const MapTile&, T* out, const Execution&);
//     // Instead of these two, for an operator that runs a chain of parts: see OperatorRow::chain,
//     // OperatorFunctions::pairs and ChainOperator.
//     static std::shared_ptr<Plan> chain(const Plan& plan, const Extents& made);
//     template <class T>
//     static PairCall<T> pairs(const Plan&, const AttentionInput<T>&);
//   };
//   OperatorRow mean_pool_row() { return structured_row<MeanPool>(); }
#pragma once

#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/operators/operator.h"

namespace conelab {

/// Return a result with its tensors in another type. `From` and `To` must have
/// the same type of computation, Compute.
template <class To, class From>
[[nodiscard]] Forward<To> converted(Forward<From> from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else {
    return {convert<To>(from.output),      std::move(from.lse),
            std::move(from.row_reference), std::move(from.row_sum),
            std::move(from.midpoint_sum),  std::move(from.column_lse),
            std::move(from.heads_output),  from.evaluation};
  }
}
template <class To, class From>
[[nodiscard]] Backward<To> converted(Backward<From> from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else {
    return {convert<To>(from.query), convert<To>(from.key), convert<To>(from.value),
            std::move(from.parameters), std::move(from.tensors)};
  }
}

/// Run a structured operator on tensors of S. It computes in float or double, so 16-bit tensors are
/// widened. The maps of tokens are applied first.
template <class O, class S>
Forward<S> forward_of(const Plan& plan, const AttentionInput<S>& input, const Execution& run) {
  check_input(plan, input);
  if constexpr (std::is_same_v<S, Compute<S>>) {
    if (!plan.inner) return O::template forward<S>(plan, input, run);
    return O::template forward<S>(*plan.inner, map_tokens(plan, input), run);
  } else {
    const Plan& own = plan.inner ? *plan.inner : plan;
    return converted<S>(O::template forward<float>(own, map_tokens(plan, input), run));
  }
}

template <class O, class S>
Backward<S> backward_of(const Plan& plan, const AttentionInput<S>& input, const Forward<S>& saved,
                        const Execution& run) {
  check_input(plan, input);
  if constexpr (std::is_same_v<S, Compute<S>>) {
    if (!plan.inner) return O::template backward<S>(plan, input, saved, run);
    return pull_back(plan, input, saved,
                     O::template backward<S>(*plan.inner, map_tokens(plan, input), saved, run));
  } else {
    const Plan& own = plan.inner ? *plan.inner : plan;
    Backward<float> result =
        O::template backward<float>(own, map_tokens(plan, input), converted<float>(saved), run);
    if (plan.inner) {
      result = pull_back(plan, convert<float>(input), converted<float>(saved), std::move(result));
    }
    return converted<S>(std::move(result));
  }
}

template <class O, class S>
void map_of(const Plan& plan, const AttentionInput<S>& input, Map2d which, const Forward<S>* saved,
            const MapTile& tile, Compute<S>* out, const Execution& run) {
  if constexpr (!requires { &O::template map<float>; }) {
    misuse("{} has no weights or logits of pairs", O::info.name);
  } else if constexpr (std::is_same_v<S, Compute<S>>) {
    O::template map<S>(plan, input, which, saved, tile, out, run);
  } else {
    Forward<float> wide;
    if (saved != nullptr) wide = converted<float>(*saved);
    O::template map<float>(plan, convert<float>(input), which, saved ? &wide : nullptr, tile, out,
                           run);
  }
}

/// Calls work(element, execution) for each head of each batch element, where `element` is batch
/// index * heads + head. If `uses_threads` (work divides a head among threads) and there are fewer
/// elements than threads, they follow each other, each on all threads. Otherwise every element has
/// one thread.
template <class Work>
void for_elements(const Plan& plan, const Execution& run, const Work& work,
                  bool uses_threads = true) {
  const std::int64_t all = plan.extents.batch * plan.extents.head;
  if (!uses_threads || all >= thread_count(run)) {
    Execution alone = quiet(run);
    alone.threads = 1;
    run_tasks(all, run, [&](std::int64_t element, const auto&) { work(element, alone); });
    return;
  }
  const auto part = [&](std::int64_t k) {
    return static_cast<double>(k) / static_cast<double>(all);
  };
  for (std::int64_t element = 0; element < all; ++element) {
    work(element, stage(run, part(element), part(element + 1)));
  }
}

/// Returns the output of an operator whose heads are computed independently: calls work(b, h,
/// output, execution) for each of them, see for_elements.
template <class T, class Work>
Forward<T> forward_by_head(const Plan& plan, const Execution& run, const Work& work,
                           bool uses_threads = true) {
  Forward<T> result;
  result.output = Tensor4<T>(plan.output);
  const auto head = [&](std::int64_t element, const Execution& inside) {
    work(element / plan.extents.head, element % plan.extents.head, result.output, inside);
  };
  for_elements(plan, run, head, uses_threads);
  return result;
}

/// Returns the gradients of such an operator: calls work(b, h, upstream, result, gradient,
/// execution), which writes dL/dq to the head's part of `result` and adds to `gradient`, that of
/// the parameters. `upstream` is dL/d(output), which is 1 if the input has none.
template <class T, class Work>
Backward<T> backward_by_head(const Plan& plan, const AttentionInput<T>& input, const Execution& run,
                             const Work& work, bool uses_threads = true) {
  Backward<T> result;
  result.query = Tensor4<T>(input.query.shape);
  const bool given = !input.output_grad.empty();
  const StridedTensor4<T> ones = given ? Tensor4<T>() : Tensor4<T>(plan.output, T(1));
  const StridedTensor4<T>& upstream = given ? input.output_grad : ones;
  std::vector<PartValues> gradients(
      static_cast<std::size_t>(plan.extents.batch * plan.extents.head));
  const auto head = [&](std::int64_t element, const Execution& inside) {
    PartValues& own = gradients[static_cast<std::size_t>(element)];
    own = plan.zeros(plan.operator_parameters);
    work(element / plan.extents.head, element % plan.extents.head, upstream, result, own, inside);
  };
  for_elements(plan, run, head, uses_threads);
  add_gradients(plan, plan.operator_parameters, gradients, result);
  return result;
}

/// The base of an operator that has the sizes, operations and pairs of the chain that it runs.
struct ChainOperator {
  static void set_sizes(Plan& plan) {
    plan.output = plan.chain->output;
    plan.pairs = plan.chain->pairs;
  }
  static double flops(const Plan& plan, Pass pass, double share) {
    return plan.chain->operation->flops(*plan.chain, pass, share);
  }
  static bool has_map(const Plan&, Map2d) { return true; }
};

template <class O, class S>
PairCall<Compute<S>> pairs_of(const Plan& plan, const AttentionInput<S>& input) {
  if constexpr (std::is_same_v<S, Compute<S>>) {
    return O::template pairs<S>(plan, input);
  } else {
    return O::template pairs<float>(plan, convert<float>(input));
  }
}

template <class O, class S>
constexpr OperatorFunctions<S> structured_functions() {
  OperatorFunctions<S> f{&forward_of<O, S>, &backward_of<O, S>, &map_of<O, S>, nullptr};
  if constexpr (requires { &O::template pairs<float>; }) f.pairs = &pairs_of<O, S>;
  return f;
}

template <class O>
bool has_map_of(const Plan& plan, Map2d which) {
  if constexpr (requires { &O::has_map; }) return O::has_map(plan, which);
  return false;
}

/// Returns the operations of a pass, over the share of pairs that the masks admit if the operator
/// counts pairs.
template <class O>
double flops_of(const Plan& plan, Pass pass, double share) {
  if constexpr (requires { O::flops(plan, pass, share); }) {
    return O::flops(plan, pass, share);
  } else {
    return O::flops(plan, pass);
  }
}

template <class O>
void set_sizes_of(Plan& plan) {
  const Extents& e = plan.extents;
  plan.output = {e.batch, e.head, e.query, e.feature};
  plan.pairs = {e.batch, e.head, e.query, e.key};
  if constexpr (requires { &O::set_sizes; }) O::set_sizes(plan);
}

template <class O>
std::span<const ParameterInfo> parameters_of([[maybe_unused]] const Call& call) {
  if constexpr (requires { &O::parameters_of; }) return O::parameters_of(call);
  return O::info.parameters;
}

template <class O>
[[nodiscard]] OperatorRow structured_row() {
  OperatorRow row{.info = O::info,
                  .parameters = &parameters_of<O>,
                  .flops = &flops_of<O>,
                  .has_map = &has_map_of<O>,
                  .set_sizes = &set_sizes_of<O>,
                  .f64 = structured_functions<O, double>(),
                  .f32 = structured_functions<O, float>(),
                  .f16 = structured_functions<O, Float16>(),
                  .bf16 = structured_functions<O, Bfloat16>()};
  if constexpr (requires { &O::check; }) row.check = &O::check;
  if constexpr (requires { &O::chain; }) row.chain = &O::chain;
  if constexpr (requires { &O::initial; }) row.initial = &O::initial;
  if constexpr (requires { &O::adjust_drawn; }) row.adjust_drawn = &O::adjust_drawn;
  if constexpr (requires { &O::working_bytes; }) row.working_bytes = &O::working_bytes;
  return row;
}

}  // namespace conelab
