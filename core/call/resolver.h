// Makes a plan from a call, part by part.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/call/plan.h"

namespace conelab {

/// Adds the parameters of one part after another to a plan. It checks what the user gave for them
/// and fills in defaults. Every function throws misuse for an error in the call, and a failure for
/// a tensor that is missing or has a wrong shape.
class Resolver {
 public:
  Resolver(const Call& call, const Extents& extents);

  /// Declares a part's parameters and returns their indices. A key that an earlier part has
  /// declared is shared; its value must be in the domains of both. `initial` returns the defaults
  /// that are NaN in `infos`; it may be null.
  ParameterSet add(const std::string& part, std::span<const ParameterInfo> infos,
                   DefaultOf initial = nullptr);
  /// Declares a parameter with a value that the call cannot set, and returns its index.
  ParameterSet add_fixed(const ParameterInfo& info, double value);
  /// Sets a size with a name that ParameterInfo::shape uses.
  void set_size(const std::string& name, std::int64_t size) { sizes_[name] = size; }
  /// Sets the number of columns of queries and keys for defaults, if these are projected.
  void set_feature(std::int64_t columns) { feature_ = columns; }
  /// Names a key among those that the call may have, of a parameter that is absent.
  void allow(const char* key) { known_keys_.emplace_back(key); }
  /// Adds the masks that the call names with their parameters, which are the same for all heads.
  void add_masks();
  /// Throws misuse for keys that no part has declared.
  void check_keys(const std::string& name) const;

  [[nodiscard]] Plan& plan() { return *plan_; }
  [[nodiscard]] std::shared_ptr<Plan> take() { return std::move(plan_); }

 private:
  const Call& call_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::vector<std::string> known_keys_;
  NamedSizes sizes_;
  std::int64_t feature_;
  /// The sides of the call's grid; {1} if the tokens are a sequence.
  std::vector<double> sides_ = {1};
  bool draws_ = false;  ///< Whether a tensor of the current part is drawn.

  std::size_t declare(const ParameterInfo& info, bool is_known);
  /// `infos[index]` is the part's own description of `p`. Its domain may differ from that of an
  /// earlier part with the same key.
  void fill(const std::string& part, std::span<const ParameterInfo> infos, Parameter& p, int index,
            DefaultOf initial);
  void fill_tensor(const std::string& part, std::span<const ParameterInfo> infos, Parameter& p);
  /// Returns whether a tensor is to be drawn and has no sizes yet.
  [[nodiscard]] bool is_drawn(const ParameterInfo& info) const;
  void fill_word(Parameter& p, int index, DefaultOf initial) const;
  /// Fills in a parameter with one number for each axis of a grid. `grid` itself must have been
  /// filled in.
  void fill_axes(Parameter& p, int index, DefaultOf initial);
  /// Returns the sides of a grid. Throws misuse unless their product is n_k.
  [[nodiscard]] std::vector<double> sides(const ParameterInfo& info, const Value& value) const;
  /// Returns [axes] or [heads x axes]. A single number stands for all axes.
  [[nodiscard]] std::vector<double> given_by_axis(const ParameterInfo& info,
                                                  const Value& value) const;
  /// Returns one default for each axis: that of a sequence as long as the side of the grid along
  /// this axis.
  [[nodiscard]] std::vector<double> defaults_by_axis(const Parameter& p, int index,
                                                     DefaultOf initial);
  [[nodiscard]] std::vector<double> given(const ParameterInfo& info, const Value& value) const;
  [[nodiscard]] std::vector<double> defaults(const Parameter& p, int index,
                                             DefaultOf initial) const;
};

/// Returns the declared shape of a tensor for messages: "[d x classes]".
[[nodiscard]] std::string shape_text(const ParameterInfo& info);
/// Returns whether a parameter is a tensor without which its part cannot run.
[[nodiscard]] bool is_required(const ParameterInfo& info);
/// Returns whether a parameter is a required tensor that is neither given nor to be drawn.
[[nodiscard]] bool is_missing(const ParameterInfo& info, const Call& call, const Extents& extents);
/// Returns which tensors besides `named` are missing, as the end of a message: " (it also needs Q,
/// W)", or "".
[[nodiscard]] std::string also_needed(std::span<const ParameterInfo> infos, const Call& call,
                                      const Extents& extents, std::string_view named);

/// Throws misuse for keys of parameters that are not in `known`, the keys that `name` accepts.
void check_keys(const std::map<std::string, Value>& parameters,
                const std::vector<std::string>& known, const std::string& name);

/// The number that every similarity takes in addition; without it, logits have no cap.
inline constexpr ParameterInfo soft_cap{
    "soft_cap",
    std::numeric_limits<double>::quiet_NaN(),
    Domain::moderate,
    true,
    "c; every logit, with its bias, becomes c tanh(logit / c) before the mask",
    "",
    "",
    "no cap"};

struct ComposedSimilarity;

/// Adds the maps of tokens that the call names, with their parameters: sinusoidal positions, the
/// map of `composed` unless it is null, other positions, and the map of values. Throws a failure if
/// a map does not accept the number of columns.
void choose_tokens(Resolver& resolver, const ComposedSimilarity* composed);
/// Returns the call on the mapped tokens, without the parameters of the token maps.
[[nodiscard]] Call inner_call(const Plan& plan, const ComposedSimilarity* composed);

/// Returns the plan of a chain of parts for tensors with these sizes, after checking names, keys,
/// domains, lists and shapes. `row` is that of attention. If `is_mapped`, the sizes are those of
/// mapped tokens, and the similarity is the one that runs on them. Throws misuse for an unknown
/// name, with the nearest known name and the list, and for an unknown key, with the keys that the
/// chosen parts accept.
[[nodiscard]] std::shared_ptr<Plan> resolve_attention(const Call& call, const Extents& extents,
                                                      const OperatorRow& row,
                                                      bool is_mapped = false);

}  // namespace conelab
