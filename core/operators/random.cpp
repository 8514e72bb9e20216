// Attention whose logits are parameters (Synthesizer: Random, and Factorized Random).
//
//   logit_ij = R_ij,  or R_query,i . R_key,j without a scale
//
// Queries and keys only give the numbers of tokens; their gradients are 0. Both forms run a chain
// of parts. The first adds R to a product of tokens without columns, which is 0. The second is the
// product of the tokens R_query and R_key and needs O(n d) memory.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/operators/joined_heads.h"
#include "core/operators/structured.h"

namespace conelab {
namespace {

constexpr const char* fields[] = {"weights", "value_map", "aggregate"};
constexpr const char* drawn[] = {"R_query", "R_key"};

/// Returns whether the operator's plan has a tensor. These are its first parameters.
enum { p_R, p_R_query, p_R_key, p_rank };
bool has(const Plan& plan, std::size_t at) {
  return !plan.parameters[plan.operator_parameters[at]].extents.empty();
}

template <class T>
Tensor4<T> tokens_of(const Array<T>& tensor, const Extents& e) {
  const std::int64_t columns = tensor.extents.back();
  const std::int64_t count = tensor.extents[tensor.extents.size() - 2];
  Tensor4<T> tokens({e.batch, e.head, count, columns});
  for (std::int64_t b = 0; b < e.batch; ++b) {
    for (std::int64_t h = 0; h < e.head; ++h) {
      std::copy_n(tensor.of_head(h, 2), count * columns, tokens.row(b, h, 0));
    }
  }
  return tokens;
}

/// Returns the gradient of such a tensor: that of its tokens, summed over batch elements, and over
/// heads if they share it.
template <class T>
Array<double> tensor_gradient(const Array<T>& tensor, const Tensor4<T>& tokens) {
  Array<double> sum{tensor.extents, std::vector<double>(tensor.data.size(), 0.0)};
  const std::int64_t size = tokens.shape.token * tokens.shape.feature;
  for (std::int64_t b = 0; b < tokens.shape.batch; ++b) {
    for (std::int64_t h = 0; h < tokens.shape.head; ++h) {
      const T* from = tokens.row(b, h, 0);
      double* to = sum.of_head(h, 2);
      for (std::int64_t i = 0; i < size; ++i) to[i] += static_cast<double>(from[i]);
    }
  }
  return sum;
}

/// Makes R the logits of a chain whose similarity is 0, also in the call on mapped tokens.
void give_logits(Plan& chain, const Parameter& R) {
  chain.bias = find_bias("explicit");
  chain.bias_parameters = {chain.parameters.size()};
  chain.parameters.push_back(R);
  chain.parameters.back().info.shape = "..,n_q,n_k";
  if (!chain.inner) return;
  const auto inner = std::make_shared<Plan>(*chain.inner);
  give_logits(*inner, R);
  chain.inner = inner;
}

struct RandomLogits : ChainOperator {
  static constexpr std::array parameters{
      ParameterInfo{"R", 0, Domain::tensor, true, "the logits", "", "n_q,n_k"},
      ParameterInfo{"R_query", 0, Domain::tensor, true, "left factor of the logits", "",
                    "n_q,rank"},
      ParameterInfo{"R_key", 0, Domain::tensor, true, "right factor of the logits", "", "n_k,rank"},
      ParameterInfo{"rank", std::numeric_limits<double>::quiet_NaN(), Domain::whole, false,
                    "columns of R_query and R_key", "", "",
                    "those of the tensors; 8 where they are drawn"}};
  static constexpr OperatorInfo info{
      .name = "random",
      .about = "logits that are parameters, R_ij or R_query,i . R_key,j",
      .paper = "Synthesizer, section 3.2",
      .cost = "n^2",
      .parameters = parameters,
      .masks = every_mask,
      .reads_keys = true,
      .fields = fields,
      .drawn = drawn};
  static double initial(int, const DefaultContext&) { return 8; }

  /// Throws a failure for calls with neither form, with a half of one, or with both.
  static void check_form(const Plan& plan) {
    const bool query = has(plan, p_R_query), key = has(plan, p_R_key);
    if (has(plan, p_R) && (query || key)) {
      fail("random takes R, or R_query and R_key (found R and {})", query ? "R_query" : "R_key");
    }
    if (has(plan, p_R) && plan.call.parameters.contains("rank")) {
      misuse("random reads rank where it takes R_query and R_key (found R)");
    }
    if (has(plan, p_R) || (query && key)) return;
    fail(
        "random needs tensor R [n_q x n_k], or R_query [n_q x rank] and R_key [n_k x rank]{}: "
        "datasets of these names beside q, -p R=random, or -p R_query=random -p R_key=random",
        query ? " (found R_query alone)"
        : key ? " (found R_key alone)"
              : "");
  }

  static std::shared_ptr<Plan> chain(const Plan& plan, const Extents& extents) {
    check_form(plan);
    Call call = plan.call;
    call.operation = Call{}.operation;
    call.similarity = "dot";
    for (const ParameterInfo& info : parameters) call.parameters.erase(info.key);
    if (!draws_tensors(call)) call.parameters.erase("seed");
    call.parameters["scale"] = 1;
    Extents own = extents;
    std::erase_if(own.tensors, [](const auto& entry) { return entry.first.starts_with("P_"); });
    const Parameter& R_key = plan.parameters[plan.operator_parameters[p_R_key]];
    own.key_head = own.head;  // The tokens are those of R_key, made for every head.
    own.feature = has(plan, p_R) ? 0 : R_key.extents.back();
    std::shared_ptr<Plan> chain = resolve_chain(call, own);
    if (has(plan, p_R)) give_logits(*chain, plan.parameters[plan.operator_parameters[p_R]]);
    return chain;
  }

  template <class T>
  static AttentionInput<T> chain_input(const Plan& plan, const AttentionInput<T>& input) {
    const Extents& e = plan.extents;
    AttentionInput<T> own = input;
    if (has(plan, p_R)) {
      own.query = Tensor4<T>({e.batch, e.head, e.query, 0});
      own.key = Tensor4<T>({e.batch, e.head, e.key, 0});
    } else {
      own.query = tokens_of(input.tensors.at("R_query"), e);
      own.key = tokens_of(input.tensors.at("R_key"), e);
    }
    return own;
  }
  template <class T>
  static PairCall<T> pairs(const Plan& plan, const AttentionInput<T>& input) {
    return mapped_call(plan.chain, chain_input(plan, input));
  }
  template <class T>
  static Forward<T> forward(const Plan& plan, const AttentionInput<T>& input,
                            const Execution& run) {
    return conelab::forward(*plan.chain, chain_input(plan, input), run);
  }
  template <class T>
  static Backward<T> backward(const Plan& plan, const AttentionInput<T>& input,
                              const Forward<T>& saved, const Execution& run) {
    Backward<T> result = conelab::backward(*plan.chain, chain_input(plan, input), saved, run);
    if (!has(plan, p_R)) {
      for (const auto& [name, tokens] :
           {std::pair{"R_query", &result.query}, {"R_key", &result.key}}) {
        result.tensors[name] = tensor_gradient(input.tensors.at(name), *tokens);
      }
    }
    result.query = Tensor4<T>(input.query.shape);
    result.key = Tensor4<T>(input.key.shape);
    result.parameters.erase("scale");
    return result;
  }
};

}  // namespace

OperatorRow random_row() { return structured_row<RandomLogits>(); }

}  // namespace conelab
