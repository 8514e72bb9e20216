// A resolved call: rows of the tables, and every parameter's value.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/weights.h"
#include "core/call/call.h"
#include "core/call/input.h"
#include "core/call/result.h"
#include "core/pair/bias.h"
#include "core/pair/mask.h"
#include "core/similarity/table.h"
#include "core/token/map.h"
#include "core/token/token_map.h"

namespace conelab {

struct OperatorRow;  // core/operators/operator.h

/// The parameters that one part reads: positions in `Plan::parameters`.
using ParameterSet = std::vector<std::size_t>;

struct PlannedMask {
  const MaskRow* row;
  ParameterSet parameters;
};
struct PlannedTokens {
  const TokenMapRow* row;
  ParameterSet parameters;
  std::int64_t columns;  ///< Of the mapped tokens.
};

class Plan {
 public:
  const OperatorRow* operation = nullptr;
  Call call;  ///< With defaults written out.
  Extents extents;
  Shape4 output = {};  ///< Sizes of the output.
  Shape4 pairs = {};   ///< Sizes of weights and logits: [batch x head x n_q x n_k].
  std::vector<Parameter> parameters;
  std::vector<PlannedMask> masks;
  ParameterSet operator_parameters;  ///< Of a structured operator.
  /// The chain of parts that a structured operator runs, or null. Its heads may be others.
  std::shared_ptr<const Plan> chain;

  // The chain of parts, for attention only; null otherwise.
  const SimilarityRow* similarity = nullptr;
  const MapRow* map = nullptr;
  const BiasRow* bias = nullptr;
  WeightLaw weights = WeightLaw::softmax;
  Aggregate aggregate = Aggregate::mean;
  ParameterSet similarity_parameters, map_parameters, bias_parameters;
  /// Maps of tokens, in order. Where there are any, or heads are joined, `inner` is the call on the
  /// mapped tokens. Tokens of one head then stand for those of all heads.
  std::vector<PlannedTokens> token_maps;
  /// True if the outputs of the heads are joined to one, head 0's columns first, and multiplied by
  /// P_output^T [d_o x head*d_v] where that is given.
  bool joins_heads = false;
  ParameterSet output_parameters;  ///< P_output.
  std::shared_ptr<const Plan> inner;

  /// One head's numbers; of a choice the index of its word, NaN for a tensor and for numbers of
  /// several axes.
  [[nodiscard]] std::vector<double> values(const ParameterSet& set, std::int64_t head) const;
  /// The same with the numbers of tensors, which the input brings, and those of several axes.
  template <class T>
  [[nodiscard]] PartValues values(const ParameterSet& set, std::int64_t head,
                                  const std::map<std::string, Array<T>>& tensors) const;
  /// Zeros in the form of a part's values.
  [[nodiscard]] PartValues zeros(const ParameterSet& set) const;

  /// The sides of the bias's grid; empty where its tokens are a sequence.
  [[nodiscard]] std::vector<std::int64_t> grid() const;
  /// The position of "height" in `parameters`, under which maps place tokens, or -1.
  [[nodiscard]] int light_index() const;
  [[nodiscard]] MapContext map_context(const std::vector<double>& map_values,
                                       std::int64_t head) const;
  /// Whether every query sees every key.
  [[nodiscard]] bool sees_all() const;
  /// The same plan over the pairs through which gradients flow to keys and values; null where they
  /// flow through all pairs.
  [[nodiscard]] std::shared_ptr<const Plan> without_stopped_pairs() const;
  /// The call's masks over the input's operands; throws misuse where a mask lacks its own. The
  /// input must outlive the result.
  template <class T>
  [[nodiscard]] Mask mask(const AttentionInput<T>& input) const {
    if (chain) return chain->mask(input);
    const auto edge = input.indices.find("edge");
    MaskInput in{extents.query, extents.key, input.allowed.empty() ? nullptr : input.allowed.data(),
                 input.key_lengths.empty() ? nullptr : input.key_lengths.data()};
    in.has_edges = edge != input.indices.end();
    if (in.has_edges) in.edges = edge->second.data;
    return Mask(mask_parts(), in, extents.batch > 0);
  }

 private:
  [[nodiscard]] std::vector<MaskPart> mask_parts() const;
  /// MapContext::light
  [[nodiscard]] double light(std::int64_t head) const;
};

/// Throws a failure unless the input has the extents that the plan was made for, and misuse unless
/// it has what the plan's masks read.
template <class T>
void check_input(const Plan& plan, const AttentionInput<T>& input);

/// Adds the gradients of a part's parameters, one entry for each head of each batch element, to
/// those of the call.
template <class T>
void add_gradients(const Plan& plan, const ParameterSet& set, std::span<const PartValues> by_head,
                   Backward<T>& result);

/// Every parameter of the plan, defaults filled in, in a fixed order.
[[nodiscard]] const std::vector<Parameter>& parameters(const Plan& plan);
/// The words chosen ("convention" -> "paper").
[[nodiscard]] std::map<std::string, std::string> choices(const Plan& plan);
/// The call with its defaults written out (map name, ...).
[[nodiscard]] const Call& resolved_call(const Plan& plan);

}  // namespace conelab
