// A resolved call: the rows of the tables and the values of all parameters.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/evaluation.h"
#include "core/base/weights.h"
#include "core/call/call.h"
#include "core/call/input.h"
#include "core/call/result.h"
#include "core/pair/bias.h"
#include "core/pair/mask.h"
#include "core/similarity/table.h"
#include "core/token/model_map.h"
#include "core/token/token_map.h"

namespace conelab {

struct OperatorRow;  // core/operators/operator.h

/// The parameters of one part, as indices into `Plan::parameters`.
using ParameterSet = std::vector<std::size_t>;

struct PlannedMask {
  const MaskRow* row;
  ParameterSet parameters;
};
struct PlannedTokens {
  const TokenMapRow* row;
  ParameterSet parameters;
  std::int64_t columns;  ///< Columns of the mapped tokens.
};

/// A plan refers to other plans where tensors change on the way. For multi-head they are:
///
///   the plan itself   multi-head               runs its chain
///   chain             attention                projects the tokens and joins the heads
///   chain->inner      attention without maps   tiles and softmax of the projected tokens
///
/// Code that works with pairs needs the last one only (mapped_call in core/operators/operator.h).
class Plan {
 public:
  const OperatorRow* operation = nullptr;
  Call call;  ///< The call with defaults written out.
  Extents extents;
  Shape4 output = {};                 ///< Sizes of the output.
  Shape4 pairs = {};                  ///< Sizes of weights and logits: [batch x head x n_q x n_k].
  std::vector<Parameter> parameters;  ///< All, with defaults, in a fixed order.
  std::vector<PlannedMask> masks;
  ParameterSet operator_parameters;  ///< The parameters of a structured operator.
  /// The chain of parts that a structured operator runs, or null. It may have another number of
  /// heads.
  std::shared_ptr<const Plan> chain;

  // The chain of parts. The pointers are null for a structured operator.
  const SimilarityRow* similarity = nullptr;
  const ModelMapRow* map = nullptr;
  const BiasRow* bias = nullptr;
  WeightLaw weights = WeightLaw::softmax;
  Aggregate aggregate = Aggregate::mean;
  /// The way of computing sums over pairs; `automatic` where intervals apply and the call leaves
  /// the choice to the program.
  Evaluation evaluation = Evaluation::pairs;
  ParameterSet similarity_parameters, map_parameters, bias_parameters;
  ParameterSet sinks;     ///< The tensor of that name; empty if it is not given.
  ParameterSet soft_cap;  ///< The number of that name; empty if it is not given.
  /// The maps of tokens, in order. If there are any, or if heads are joined, `inner` is the plan
  /// for the mapped tokens, and given tokens with fewer heads are shared by the heads
  /// (shared_head). The mapped k and v keep their number of heads if the maps are the same for all
  /// heads.
  std::vector<PlannedTokens> token_maps;
  /// Says whether the outputs of the heads are joined to one, head 0's columns first, and
  /// multiplied by P_output^T [d_o x head*d_v] if P_output is given.
  bool joins_heads = false;
  ParameterSet output_parameters;  ///< P_output.
  std::shared_ptr<const Plan> inner;

  /// Returns the numbers of one head. For a choice it is the index of its word; for a tensor and
  /// for numbers of several axes it is NaN.
  [[nodiscard]] std::vector<double> values(const ParameterSet& set, std::int64_t head) const;
  /// Returns the same with the numbers of several axes.
  [[nodiscard]] PartValues numbers(const ParameterSet& set, std::int64_t head) const;
  /// Returns views [parameter] of the tensors of a part for one head, which the input contains.
  template <class T>
  [[nodiscard]] std::vector<std::span<const T>> tensors_of(
      const ParameterSet& set, std::int64_t head,
      const std::map<std::string, Array<T>>& tensors) const;
  /// Returns `numbers` with copies of the tensors, zeros for those that are absent.
  template <class T>
  [[nodiscard]] PartValues values(const ParameterSet& set, std::int64_t head,
                                  const std::map<std::string, Array<T>>& tensors) const;
  /// Returns zeros in the shapes of a part's values.
  [[nodiscard]] PartValues zeros(const ParameterSet& set) const;

  /// Returns the logit without a value that takes part in the sum of a head's rows; -inf if there
  /// is none. Of slices of the keys, the one with the first key of the sequence has it, so that
  /// joined rows (merge_rows) count it once.
  template <class T>
  [[nodiscard]] double sink(const std::map<std::string, Array<T>>& tensors,
                            std::int64_t head) const {
    if (sinks.empty() || extents.positions.first_key > 0) {
      return -std::numeric_limits<double>::infinity();
    }
    return static_cast<double>(*tensors_of(sinks, head, tensors).front().data());
  }

  /// Returns the part that only the CPU computes, or null.
  [[nodiscard]] const char* cpu_part() const {
    if (!soft_cap.empty()) return "soft_cap";
    return bias != nullptr && bias->of_pairs ? "a bias of pairs" : nullptr;
  }
  /// Returns whether heads have numbers of their own in a part.
  [[nodiscard]] bool differs_by_head(const ParameterSet& set) const;
  /// Returns how many heads of placed keys there are: as many as k has if all heads place tokens
  /// alike, otherwise one for each head of q.
  [[nodiscard]] std::int64_t placed_key_heads() const;
  /// Returns the sides of the bias's grid. It is empty if the tokens are a sequence.
  [[nodiscard]] std::vector<std::int64_t> grid() const;
  /// Returns the index of the parameter "height" in `parameters`, which maps use, or -1.
  [[nodiscard]] int light_index() const;
  [[nodiscard]] ModelMapContext map_context(const std::vector<double>& map_values,
                                            std::int64_t head) const;
  /// Returns whether every query sees every key.
  [[nodiscard]] bool sees_all() const;
  /// Returns the same plan for the pairs through which gradients flow to keys and values, or null
  /// if they flow through all pairs.
  [[nodiscard]] std::shared_ptr<const Plan> without_stopped_pairs() const;
  /// Returns the call's masks over the input, which must outlive the result. Throws misuse if the
  /// input lacks what a mask reads.
  template <class T>
  [[nodiscard]] Mask mask(const AttentionInput<T>& input) const {
    if (chain) return chain->mask(input);
    const auto edge = input.indices.find("edge");
    MaskInput in{extents.query, extents.key, extents.slice(),
                 input.allowed.empty() ? nullptr : input.allowed.data(),
                 input.key_lengths.empty() ? nullptr : input.key_lengths.data()};
    in.has_edges = edge != input.indices.end();
    if (in.has_edges) in.edges = edge->second.data;
    in.heads = std::max<std::int64_t>(1, extents.head);
    in.allowed_sizes = mask_sizes(input);
    in.graph = input.graph.get();
    return Mask(mask_parts(input.tensors), in, extents.batch > 0);
  }

 private:
  template <class T>
  [[nodiscard]] std::vector<MaskPart> mask_parts(
      const std::map<std::string, Array<T>>& tensors) const;
  /// Returns ModelMapContext::light of a head.
  [[nodiscard]] double light(std::int64_t head) const;
};

/// Throws a failure if the input does not have the sizes of the plan or lacks one of its tensors,
/// and misuse if it lacks what the plan's masks read, or if the memory of a tensor is null or has a
/// stride that is neither 0 nor at least the number of features.
template <class T>
void check_input(const Plan& plan, const AttentionInput<T>& input);

/// Adds the gradients of a part's parameters to those of the call. `by_head` has one entry for each
/// head of each batch element.
template <class T>
void add_gradients(const Plan& plan, const ParameterSet& set, std::span<const PartValues> by_head,
                   Backward<T>& result);

/// Returns the chosen words ("convention" -> "paper").
[[nodiscard]] std::map<std::string, std::string> choices(const Plan& plan);

}  // namespace conelab
