// Attention whose heads are made by projections of tokens with one head, and its repetition.
//
//   multi-head   o = [o_0, ..., o_{heads-1}] P_output^T, o_h the attention of q P_query,h^T,
//                k P_key,h^T and v P_value,h^T by any similarity (Vaswani et al., section 3.2.2)
//   recursive    x <- x + multi-head(x, x, x), `steps` times with the same tensors (Hyperbolic
//                Attention Networks, section 5 and A.5)
//
// Both run a chain of parts (core/operators/attention.cpp) whose heads share the tokens. They need
// O(n heads d') memory beyond inputs and output; the backward pass of recursive needs that for each
// step.
#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/operators/structured.h"

namespace conelab {
namespace {

constexpr double needed = std::numeric_limits<double>::quiet_NaN();

constexpr ParameterInfo heads_info{"heads",
                                   needed,
                                   Domain::whole,
                                   false,
                                   "heads that the projections make",
                                   "",
                                   "",
                                   "the projections' axis of heads"};
constexpr ParameterInfo query_info{
    "P_query", needed, Domain::tensor, true, "projection of the queries", "", "d',d"};
constexpr ParameterInfo key_info{"P_key", needed, Domain::tensor, true, "projection of the keys",
                                 "",      "d',d"};
constexpr ParameterInfo value_info{
    "P_value", needed, Domain::tensor, true, "projection of the values", "", "d_v',d_v"};

constexpr const char* chain_fields[] = {"similarity", "position",  "map",      "bias",
                                        "weights",    "value_map", "aggregate"};

std::shared_ptr<Plan> joined_chain(const Plan& plan, const Extents& made) {
  Call call = plan.call;
  call.operation = Call{}.operation;
  for (const std::size_t i : plan.operator_parameters) {
    call.parameters.erase(plan.parameters[i].info.key);
  }
  std::shared_ptr<Plan> chain = resolve_chain(call, made);
  if (!chain->joins_heads) {
    chain->joins_heads = true;
    chain->output = {made.batch, 1, made.query, made.head * chain->output.feature};
  }
  return chain;
}

struct MultiHead : ChainOperator {
  static constexpr std::array parameters{heads_info, query_info, key_info, value_info,
                                         output_projection};
  static constexpr OperatorInfo info{
      .name = "multi-head",
      .about =
          "[o_0, ...] P_output^T, o_h the attention of q P_query^T, k P_key^T and v P_value^T "
          "of head h by any similarity",
      .paper = "Vaswani et al., section 3.2.2",
      .cost = "n^2",
      .parameters = parameters,
      .masks = every_mask,
      .reads_keys = true,
      .fields = chain_fields,
      .makes_heads = true};

  static std::shared_ptr<Plan> chain(const Plan& plan, const Extents& made) {
    return joined_chain(plan, made);
  }
  template <class T>
  static PairCall<T> pairs(const Plan& plan, const AttentionInput<T>& input) {
    return mapped_call(plan.chain, input);
  }
  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    return conelab::forward(*plan.chain, input, run);
  }
  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input,
                              const Forward<T>& saved, const Execution& run) {
    return conelab::backward(*plan.chain, input, saved, run);
  }
};

template <class T>
void add(std::vector<T>& sum, const std::vector<T>& part) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
}

template <class T>
void add_step(const Backward<T>& step, Backward<T>& sum) {
  for (const auto& [key, slopes] : step.parameters) {
    const auto [found, is_new] = sum.parameters.emplace(key, slopes);
    if (!is_new) add(found->second, slopes);
  }
  for (const auto& [name, tensor] : step.tensors) {
    const auto [found, is_new] = sum.tensors.emplace(name, tensor);
    if (!is_new) add(found->second.data, tensor.data);
  }
}

struct Recursive {
  static constexpr std::array parameters{
      ParameterInfo{"steps", 3, Domain::whole, false, "how often x <- x + multi-head(x, x, x)"},
      heads_info,
      query_info,
      key_info,
      value_info,
      output_projection};
  static constexpr OperatorInfo info{
      .name = "recursive",
      .about = "x <- x + multi-head(x, x, x), `steps` times with the same tensors",
      .paper = "Gulcehre et al., section 5",
      .cost = "n^2",
      .parameters = parameters,
      .masks = every_mask,
      .fields = chain_fields,
      .makes_heads = true};

  static std::int64_t steps(const Plan& plan) {
    return static_cast<std::int64_t>(plan.values(plan.operator_parameters, 0).front());
  }
  static std::shared_ptr<Plan> chain(const Plan& plan, const Extents& made) {
    std::shared_ptr<Plan> chain = joined_chain(plan, made);
    if (chain->output.feature != made.feature) {
      fail(
          "recursive adds the heads' joined outputs to the tokens: they need d = {} columns "
          "(found {})",
          made.feature, chain->output.feature);
    }
    return chain;
  }
  static void set_sizes(Plan& plan) { plan.pairs = plan.chain->pairs; }
  static double flops(const Plan& plan, Pass pass, double share) {
    return static_cast<double>(steps(plan)) *
           plan.chain->operation->flops(*plan.chain, pass, share);
  }

  /// Returns the input of the first step: x as queries, keys and values.
  template <class T>
  static AttentionInput<T> first_input(const AttentionInput<T>& input) {
    AttentionInput<T> first = input;
    first.key = first.value = first.query;
    first.output_grad = {};
    return first;
  }
  template <class T>
  static void advance(const Forward<T>& step, AttentionInput<T>& input) {
    add(input.query.owned().data, step.output.data);
    input.key = input.value = input.query;
  }

  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    AttentionInput<T> x = first_input(input);
    for (std::int64_t t = 0; t < steps(plan); ++t) {
      advance(conelab::forward(*plan.chain, x, step_of(plan, run, t)), x);
    }
    Forward<T> result;
    result.output = std::move(x.query.owned());
    return result;
  }
  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input,
                              const Forward<T>& saved, const Execution& run) {
    const Execution there = stage(run, 0, 0.25), back = stage(run, 0.25, 1);
    std::vector<StridedTensor4<T>> states;
    std::vector<Forward<T>> outputs;
    AttentionInput<T> x = first_input(input);
    for (std::int64_t t = 0; t < steps(plan); ++t) {
      states.push_back(x.query);
      outputs.push_back(conelab::forward(*plan.chain, x, step_of(plan, there, t)));
      advance(outputs.back(), x);
    }
    Backward<T> result;
    result.query = input.output_grad.empty() ? Tensor4<T>(saved.output.shape, T(1))
                                             : input.output_grad.dense();
    for (std::int64_t t = steps(plan) - 1; t >= 0; --t) {
      const auto at = static_cast<std::size_t>(t);
      x.query = x.key = x.value = std::move(states[at]);
      x.output_grad = result.query;
      const Backward<T> step =
          conelab::backward(*plan.chain, x, outputs[at], step_of(plan, back, steps(plan) - 1 - t));
      for (const auto* part : {&step.query, &step.key, &step.value}) {
        add(result.query.data, part->data);
      }
      add_step(step, result);
    }
    return result;
  }

  static Execution step_of(const Plan& plan, const Execution& run, std::int64_t t) {
    const auto all = static_cast<double>(steps(plan));
    return stage(run, static_cast<double>(t) / all, static_cast<double>(t + 1) / all);
  }
};

}  // namespace

OperatorRow multi_head_row() { return structured_row<MultiHead>(); }
OperatorRow recursive_row() { return structured_row<Recursive>(); }

}  // namespace conelab
