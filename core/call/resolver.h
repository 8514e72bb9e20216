// From a call to a plan, part by part.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/call/plan.h"

namespace conelab {

/// Fills a plan with the parameters of one part after another, checks what the user gave for them
/// and fills in defaults. Every function throws misuse for what is wrong with the call, and a
/// failure for a tensor that is missing or has another shape.
class Resolver {
 public:
  Resolver(const Call& call, const Extents& extents);

  /// Declares a part's parameters and returns their positions; a key that an earlier part has
  /// declared is shared, and its value must lie in the domains of both. `initial` gives the
  /// defaults that `infos` does not say, or is null.
  ParameterSet add(const std::string& part, std::span<const ParameterInfo> infos,
                   DefaultOf initial = nullptr);
  /// The same for a parameter whose value the call cannot choose.
  ParameterSet add_fixed(const ParameterInfo& info, double value);
  /// Sets a size by the name that ParameterInfo::shape uses.
  void set_size(const std::string& name, std::int64_t size) { sizes_[name] = size; }
  /// The columns of queries and keys that defaults depend on, where these are projected.
  void set_feature(std::int64_t columns) { feature_ = columns; }
  /// The masks that the call names, each with its parameters, which are the same for all heads.
  void add_masks();
  /// Refuses keys that no part has declared.
  void check_keys(const std::string& name) const;

  [[nodiscard]] Plan& plan() { return *plan_; }
  [[nodiscard]] std::shared_ptr<Plan> take() { return std::move(plan_); }

 private:
  const Call& call_;
  std::shared_ptr<Plan> plan_ = std::make_shared<Plan>();
  std::vector<std::string> known_keys_;
  NamedSizes sizes_;
  std::int64_t feature_;
  std::vector<double> sides_ = {1};  ///< Of the call's grid; one where tokens are a sequence.
  bool draws_ = false;               ///< Whether a tensor of the part at hand is drawn.

  std::size_t declare(const ParameterInfo& info, bool is_known);
  /// `info` is the part's own description of `p`, whose domain may differ from that of an earlier
  /// part that shares the key.
  void fill(const std::string& part, const ParameterInfo& info, Parameter& p, int index,
            DefaultOf initial);
  void fill_tensor(const std::string& part, Parameter& p);
  void fill_word(Parameter& p, int index, DefaultOf initial) const;
  /// Numbers of which there is one for each axis of a grid; `grid` itself has been filled before.
  void fill_axes(Parameter& p, int index, DefaultOf initial);
  /// "16x16" as sides; misuse unless their product is n_k.
  [[nodiscard]] std::vector<double> sides(const ParameterInfo& info, const std::string& text) const;
  /// [axes] or [heads x axes] from "1,2" or "1,2;3,4"; a single number stands for all axes.
  [[nodiscard]] std::vector<double> given_by_axis(const ParameterInfo& info,
                                                  const std::string& text) const;
  /// The default of an axis is that of a sequence as long as its side.
  [[nodiscard]] std::vector<double> defaults_by_axis(const Parameter& p, int index,
                                                     DefaultOf initial);
  [[nodiscard]] std::vector<double> given(const ParameterInfo& info, const std::string& text) const;
  [[nodiscard]] std::vector<double> defaults(const Parameter& p, int index,
                                             DefaultOf initial) const;
};

/// The declared shape of a tensor as messages have it: "[d x classes]".
[[nodiscard]] std::string shape_text(const ParameterInfo& info);

/// Refuses keys of parameters that are not among `known`, those that `name` takes.
void check_keys(const std::map<std::string, std::string>& parameters,
                const std::vector<std::string>& known, const std::string& name);

struct ComposedSimilarity;

/// Adds the maps of tokens that the call names, each with its parameters: sinusoidal positions, the
/// map of a composed similarity, or null where there is none, other positions, the map of values.
/// Throws a failure for a number of columns that a map does not take.
void choose_tokens(Resolver& resolver, const ComposedSimilarity* composed);
/// The call on the mapped tokens: the parameters of the token maps are no longer its own.
[[nodiscard]] Call inner_call(const Plan& plan, const ComposedSimilarity* composed);

/// The plan of a chain of parts: names, keys, domains, lists and shapes are checked for tensors of
/// these extents. `row` is that of attention. Throws misuse: unknown names get the nearest known
/// name and the list, unknown keys those that the chosen parts take. `is_mapped`: the extents are
/// those of mapped tokens, and the similarity is what runs on them.
[[nodiscard]] std::shared_ptr<Plan> resolve_attention(const Call& call, const Extents& extents,
                                                      const OperatorRow& row,
                                                      bool is_mapped = false);

}  // namespace conelab
