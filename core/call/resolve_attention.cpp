// The plan of a chain of parts: tokens, map, similarity, bias, masks, weights, aggregate.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/composed.h"
#include "core/call/resolver.h"

namespace conelab {
namespace {

template <class Parts>
std::vector<std::string> names_of(const Parts& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts) {
    if (std::find(names.begin(), names.end(), part.name) == names.end())
      names.emplace_back(part.name);
  }
  return names;
}

/// The row of a table by its name; unknown names are misuse.
template <class Rows>
const auto& row_named(const char* what, const Rows& rows, const std::string& name) {
  for (const auto& row : rows) {
    if (name == row.name) return row;
  }
  unknown_name(what, name, names_of(rows));
}

/// The default of the product's scale, the only one of a similarity that depends on the input.
double inverse_root_of_columns(int, const DefaultContext& context) {
  return 1 / std::sqrt(std::max(1.0, static_cast<double>(context.feature)));
}

/// The word that the call chooses among the rows of one similarity; empty where there is no choice.
std::string chosen_word(Resolver& resolver, const std::string& similarity) {
  const SimilarityRow* first = find_similarity(similarity, "");
  if (first == nullptr || first->info.choice == nullptr) return "";
  const ParameterSet set = resolver.add(similarity, {first->info.choice, 1});
  const Parameter& choice = resolver.plan().parameters[set.front()];
  return choice_words(choice.info)[static_cast<std::size_t>(choice.values.front())];
}

void choose_similarity(Resolver& resolver) {
  Plan& plan = resolver.plan();
  const ComposedSimilarity* composed = find_composed(plan.call.similarity);
  const std::string name = composed == nullptr ? plan.call.similarity : composed->similarity;
  plan.similarity = find_similarity(name, chosen_word(resolver, name));
  if (plan.similarity == nullptr) unknown_name("similarity", name, names_of(list_similarities()));
  if (composed != nullptr) {
    plan.similarity_parameters =
        resolver.add_fixed(plan.similarity->parameters.front(), composed->value);
  } else {
    plan.similarity_parameters =
        resolver.add(name, plan.similarity->parameters, &inverse_root_of_columns);
  }
}

void choose_map(Resolver& resolver) {
  Plan& plan = resolver.plan();
  std::string& name = plan.call.map;
  const Space space = plan.similarity->info.space;
  if (name.empty()) name = plan.similarity->info.default_map;
  plan.map = find_map(name, space);
  if (plan.map == nullptr) {
    std::vector<std::string> fitting;
    for (const MapRow& row : map_table()) {
      if (row.space == space) fitting.emplace_back(row.name);
    }
    unknown_name(fmt::format("map for {}", plan.call.similarity), name, fitting);
  }
  if (plan.extents.feature < 1 && space != Space::euclidean) {
    fail("{} needs at least one feature per token (found 0)", plan.call.similarity);
  }
  plan.map_parameters = resolver.add("map " + name, plan.map->parameters);
}

/// The token maps of the call, in order.
std::vector<const TokenMapRow*> token_maps_of(const Call& call) {
  std::vector<const TokenMapRow*> rows;
  if (const ComposedSimilarity* composed = find_composed(call.similarity)) {
    rows.push_back(find_token_map(composed->token_map));
  }
  if (call.position == "none") return rows;
  const TokenMapRow* row = find_token_map(call.position);
  if (row == nullptr || !row->is_position) {
    unknown_name("position", call.position, names_of(list_positions()));
  }
  rows.insert(row->is_added ? rows.begin() : rows.end(), row);
  return rows;
}

/// The word that the call chooses for a key; empty where it has no such choice.
std::string word_of(const Plan& plan, const std::string& key) {
  const std::map<std::string, std::string> words = choices(plan);
  const auto found = words.find(key);
  return found == words.end() ? "" : found->second;
}

/// Appends HyPE's columns, in the place of the bias, where the call wants them.
void choose_columns(Plan& plan) {
  if (word_of(plan, "hype_form") != "columns") return;
  if (std::string_view(plan.similarity->info.name) != "dot") {
    misuse(
        "hype_form=columns appends columns to a dot product (expected dot or multiplicative, found "
        "{}; use hype_form=bias)",
        plan.call.similarity);
  }
  ParameterSet parameters = plan.bias_parameters;
  parameters.push_back(plan.similarity_parameters.front());
  plan.token_maps.push_back({find_token_map("hype-columns"), parameters});
}

/// Columns of a token after all maps.
std::int64_t mapped_columns(const Plan& plan) {
  std::int64_t columns = plan.extents.feature;
  for (const PlannedTokens& map : plan.token_maps) {
    if (map.row->appends == nullptr) continue;
    columns +=
        map.row->appends(plan.values(map.parameters, 0, std::map<std::string, Array<double>>{}));
  }
  return columns;
}

}  // namespace

Call inner_call(const Plan& plan) {
  Call call = plan.call;
  call.position = "none";
  for (const PlannedTokens& tokens : plan.token_maps) {
    for (const std::size_t i : tokens.parameters) {
      call.parameters.erase(plan.parameters[i].info.key);
    }
    if (tokens.row->appends == nullptr) continue;
    // Columns take the place of the bias; the scale's default is that of the call's own columns.
    call.bias = "none";
    const Parameter& scale = plan.parameters[tokens.parameters.back()];
    call.parameters[scale.info.key] = fmt::format("{:.17g}", fmt::join(scale.values, ","));
  }
  if (const ComposedSimilarity* composed = find_composed(call.similarity)) {
    call.similarity = composed->similarity;
    call.parameters[composed->fixed] = fmt::format("{}", composed->value);
  }
  const bool draws = std::any_of(call.parameters.begin(), call.parameters.end(),
                                 [](const auto& entry) { return entry.second == "random"; });
  if (!draws) call.parameters.erase("seed");
  return call;
}

void choose_tokens(Resolver& resolver) {
  Plan& plan = resolver.plan();
  for (const TokenMapRow* row : token_maps_of(plan.call)) {
    if (const char* wrong = row->refuses(plan.extents.feature)) {
      fail("{} (found d = {})", wrong, plan.extents.feature);
    }
    const std::string& part = row->is_position ? plan.call.position : plan.call.similarity;
    plan.token_maps.push_back({row, resolver.add(part, row->parameters)});
  }
}

std::shared_ptr<Plan> resolve_attention(const Call& call, const Extents& extents,
                                        const OperatorRow& row) {
  Resolver resolver(call, extents);
  Plan& plan = resolver.plan();
  plan.operation = &row;
  choose_similarity(resolver);
  choose_map(resolver);
  choose_tokens(resolver);
  const BiasRow& bias = row_named("bias", bias_table(), call.bias);
  plan.bias = &bias;
  plan.bias_parameters = resolver.add("bias " + call.bias, bias.parameters, bias.initial);
  choose_columns(plan);
  resolver.add_masks();
  plan.weights = row_named("weights", weight_rows, call.weights).law;
  plan.aggregate = row_named("aggregate", aggregate_rows, call.aggregate).aggregate;
  resolver.check_keys(call.similarity);
  if (!plan.token_maps.empty()) {
    Extents inner = extents;
    inner.feature = mapped_columns(plan);
    plan.inner = resolve_attention(inner_call(plan), inner, row);
  }
  return resolver.take();
}

}  // namespace conelab
