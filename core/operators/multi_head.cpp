// Attention with heads that projections make, of tokens with one head, and its repetition.
//
//   multi-head   o = [o_0, ..., o_{heads-1}] P_output^T, o_h the attention of q P_query,h^T,
//                k P_key,h^T and v P_value,h^T by any similarity (Vaswani et al., section 3.2.2)
//   recursive    x <- x + multi-head(x, x, x), `steps` times with the same tensors (Hyperbolic
//                Attention Networks, section 5 and A.5)
//
// Both run a chain of parts (core/operators/attention.cpp) whose heads share the tokens. Memory O(n
// heads d') beyond inputs and output, of recursive on the way back times the steps.
#include <array>
#include <limits>

#include "core/base/error.h"
#include "core/operators/structured.h"

namespace conelab {
namespace {

constexpr double needed = std::numeric_limits<double>::quiet_NaN();

constexpr ParameterInfo heads_info{"heads", needed, Domain::whole, false,
                                   "heads that the projections make; default their axis of heads"};
constexpr ParameterInfo query_info{
    "P_query", needed, Domain::tensor, true, "projection of the queries", "", "d',d"};
constexpr ParameterInfo key_info{"P_key", needed, Domain::tensor, true, "projection of the keys",
                                 "",      "d',d"};
constexpr ParameterInfo value_info{
    "P_value", needed, Domain::tensor, true, "projection of the values", "", "d_v',d_v"};

constexpr const char* chain_fields[] = {"similarity", "position",  "map",      "bias",
                                        "weights",    "value_map", "aggregate"};

/// The chain of parts on heads that are joined to one.
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

struct MultiHead {
  static constexpr std::array parameters{heads_info, query_info, key_info, value_info,
                                         output_projection};
  static constexpr OperatorInfo info{
      .name = "multi-head",
      .about =
          "[o_0, ...] P_output^T, o_h the attention of q P_query^T, k P_key^T and v P_value^T "
          "of head h by any similarity (Vaswani et al., section 3.2.2)",
      .cost = "n^2",
      .parameters = parameters,
      .masks = every_mask,
      .reads_keys = true,
      .fields = chain_fields,
      .makes_heads = true};

  static std::shared_ptr<Plan> chain(const Plan& plan, const Extents& made) {
    return joined_chain(plan, made);
  }
  static void set_sizes(Plan& plan) {
    plan.output = plan.chain->output;
    plan.pairs = plan.chain->pairs;
  }
  static double flops(const Plan& plan, Pass pass, double share) {
    return plan.chain->operation->flops(*plan.chain, pass, share);
  }
  static bool has_map(const Plan&, Map2d) { return true; }
  template <class T>
  static PairCall<T> pairs(const Plan& plan, const AttentionInput<T>& input) {
    return {plan.chain->inner, map_tokens(*plan.chain, input)};
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

}  // namespace

OperatorRow multi_head_row() { return structured_row<MultiHead>(); }

}  // namespace conelab
