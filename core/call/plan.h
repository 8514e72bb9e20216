// A resolved call: rows of the tables, and every parameter's numbers.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/call/call.h"
#include "core/call/input.h"
#include "core/pair/bias.h"
#include "core/pair/mask.h"
#include "core/similarity/table.h"
#include "core/token/map.h"

namespace conelab {

/// The parameters that one part reads: positions in `Plan::parameters`.
using ParameterSet = std::vector<std::size_t>;

struct PlannedMask {
  const MaskRow* row;
  ParameterSet parameters;
};

class Plan {
 public:
  Call call;  ///< With defaults written out.
  Extents extents;
  const SimilarityRow* similarity = nullptr;
  const MapRow* map = nullptr;
  const BiasRow* bias = nullptr;
  std::vector<PlannedMask> masks;
  bool sigmoid = false;
  bool einstein = false;
  std::vector<Parameter> parameters;
  std::map<std::string, std::string> choices;

  ParameterSet similarity_parameters;
  ParameterSet map_parameters;
  ParameterSet bias_parameters;

  [[nodiscard]] std::vector<double> values(const ParameterSet& set, std::int64_t head) const {
    std::vector<double> v;
    for (const std::size_t i : set) v.push_back(parameters[i].at(head));
    return v;
  }
  /// The position of "height" in `parameters`, the light that maps place tokens under, or -1.
  [[nodiscard]] int light_index() const;
  [[nodiscard]] MapContext map_context(const std::vector<double>& map_values,
                                       std::int64_t head) const;
  /// Whether every query sees every key.
  [[nodiscard]] bool sees_all() const;
  /// The call's masks over the input's operands; throws misuse where a mask lacks its own.
  template <class T>
  [[nodiscard]] Mask mask(const AttentionInput<T>& input) const {
    const MaskInput in{extents.query, extents.key,
                       input.allowed.empty() ? nullptr : input.allowed.data(),
                       input.key_lengths.empty() ? nullptr : input.key_lengths.data()};
    std::vector<MaskPart> parts = mask_parts();
    if (extents.batch > 0) require_operands(parts, in);
    return Mask(std::move(parts), in);
  }

 private:
  /// A mask's parameters are the same for all heads.
  [[nodiscard]] std::vector<MaskPart> mask_parts() const;
  /// MapContext::light
  [[nodiscard]] double light(std::int64_t head) const;
};

/// The door of the engine: throws a failure unless the input has the extents that the plan was made
/// for, and misuse unless it has what the plan's masks read.
template <class T>
void check_input(const Plan& plan, const AttentionInput<T>& input);

/// Checks names, keys, domains and list lengths of `call` for tensors of these extents.
/// Throws misuse: unknown names get the nearest known name and the list; unknown keys get the keys
/// that the chosen parts take.
[[nodiscard]] std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents);

/// Every parameter of the plan, defaults filled in, in a fixed order.
[[nodiscard]] const std::vector<Parameter>& parameters(const Plan& plan);
/// The words chosen for non-numeric parameters ("convention" -> "paper").
[[nodiscard]] const std::map<std::string, std::string>& choices(const Plan& plan);
/// The call with its defaults written out (map name, ...).
[[nodiscard]] const Call& resolved_call(const Plan& plan);

/// Names for `list` and for error messages.
struct PartInfo {
  std::string name;
  std::string about;  ///< Formula in one line, and the paper.
  std::vector<ParameterInfo> parameters;
  std::string default_map;  ///< Similarities only.
};
[[nodiscard]] std::vector<PartInfo> list_similarities();
[[nodiscard]] std::vector<PartInfo> list_maps();
[[nodiscard]] std::vector<PartInfo> list_biases();
[[nodiscard]] std::vector<PartInfo> list_masks();

}  // namespace conelab
