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

/// Whether a tensor is given or to be drawn.
bool has_tensor(const Plan& plan, const char* name) {
  return plan.extents.tensors.contains(name) || plan.call.parameters.contains(name);
}

/// The rows of a matrix that is given; `otherwise` where it is to be drawn.
std::int64_t given_rows(const Plan& plan, const char* name, std::int64_t otherwise) {
  const auto found = plan.extents.tensors.find(name);
  const bool given = found != plan.extents.tensors.end() && found->second.size() >= 2;
  return given ? found->second[found->second.size() - 2] : otherwise;
}

/// Plans a map of tokens of so many columns; returns those of the mapped ones.
std::int64_t add_tokens(Plan& plan, const TokenMapRow& row, const ParameterSet& set,
                        std::int64_t columns) {
  std::vector<Parameter> own;
  for (const std::size_t i : set) own.push_back(plan.parameters[i]);
  columns = row.columns(columns, own);
  plan.token_maps.push_back({&row, set, columns});
  return columns;
}

/// The projections that are there: of tokens first, and of the joined outputs of heads. Queries and
/// keys must get equally many columns; where one side alone is projected it keeps its own.
void choose_projections(Resolver& resolver) {
  Plan& plan = resolver.plan();
  const Extents& e = plan.extents;
  const bool both = has_tensor(plan, "P_query") && has_tensor(plan, "P_key");
  const std::int64_t feature =
      both ? given_rows(plan, "P_query", given_rows(plan, "P_key", e.feature)) : e.feature;
  const std::int64_t value = given_rows(plan, "P_value", e.value);
  resolver.set_size("d'", feature);
  resolver.set_size("d_v'", value);
  resolver.set_feature(feature);
  for (const TokenMapRow& row : token_projections()) {
    const ParameterSet set = resolver.add(row.name, row.parameters);
    if (plan.parameters[set.front()].extents.empty()) continue;
    (void)add_tokens(plan, row, set, row.maps_value ? e.value : e.feature);
  }
  resolver.set_size("d", feature);  // What comes after sees projected tokens only.
  resolver.set_size("d_v", value);
  resolver.set_size("head*d_v", e.head * value);
  resolver.set_size("d_o", given_rows(plan, "P_output", e.feature));
  const auto given = e.tensors.find("P_output");
  if (given != e.tensors.end() &&
      (given->second.size() != 2 || given->second.back() != e.head * value)) {
    fail(
        "tensor P_output, shared by all heads, does not have its shape (expected [d_o x head*d_v] "
        "= [d_o x {}], found [{}])",
        e.head * value, fmt::join(given->second, " x "));
  }
  plan.output_parameters = resolver.add("P_output", {&output_projection, 1});
  plan.joins_heads = !plan.parameters[plan.output_parameters.front()].extents.empty();
}

/// The other token maps of the call, in order: the projection of a composed similarity, then the
/// position.
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
  rows.push_back(row);
  return rows;
}

/// The call on the mapped tokens: the parameters of the token maps are no longer its own.
Call inner_call(const Plan& plan) {
  Call call = plan.call;
  call.position = "none";
  if (const ComposedSimilarity* composed = find_composed(call.similarity)) {
    call.similarity = composed->similarity;
    call.parameters[composed->fixed] = fmt::format("{}", composed->value);
  }
  for (const PlannedTokens& tokens : plan.token_maps) {
    for (const std::size_t i : tokens.parameters) {
      call.parameters.erase(plan.parameters[i].info.key);
    }
  }
  call.parameters.erase(output_projection.key);
  return call;
}

/// The extents of the mapped tokens. Their projections are done.
Extents inner_extents(const Plan& plan) {
  Extents inner = plan.extents;
  for (const PlannedTokens& tokens : plan.token_maps) {
    (tokens.row->maps_value ? inner.value : inner.feature) = tokens.columns;
  }
  for (const TokenMapRow& row : token_projections()) inner.tensors.erase(row.name);
  inner.tensors.erase(output_projection.key);
  return inner;
}

void choose_tokens(Resolver& resolver) {
  Plan& plan = resolver.plan();
  std::int64_t columns = inner_extents(plan).feature;
  for (const TokenMapRow* row : token_maps_of(plan.call)) {
    if (const char* wrong = row->refuses(columns)) fail("{} (found d = {})", wrong, columns);
    const std::string& part = row->is_position ? plan.call.position : plan.call.similarity;
    columns = add_tokens(plan, *row, resolver.add(part, row->parameters), columns);
  }
}

/// The sizes of the output, whose values have so many columns.
Shape4 output_sizes(const Plan& plan, std::int64_t columns) {
  const Extents& e = plan.extents;
  if (!plan.joins_heads) return {e.batch, e.head, e.query, columns};
  const std::vector<std::int64_t>& p = plan.parameters[plan.output_parameters.front()].extents;
  return {e.batch, 1, e.query, p.front()};
}

}  // namespace

std::shared_ptr<Plan> resolve_attention(const Call& call, const Extents& extents,
                                        const OperatorRow& row) {
  Resolver resolver(call, extents);
  Plan& plan = resolver.plan();
  plan.operation = &row;
  choose_projections(resolver);
  choose_similarity(resolver);
  choose_map(resolver);
  choose_tokens(resolver);
  const BiasRow& bias = row_named("bias", bias_table(), call.bias);
  plan.bias = &bias;
  plan.bias_parameters = resolver.add("bias " + call.bias, bias.parameters, bias.initial);
  resolver.add_masks();
  plan.weights = row_named("weights", weight_rows, call.weights).law;
  plan.aggregate = row_named("aggregate", aggregate_rows, call.aggregate).aggregate;
  resolver.check_keys(call.similarity);
  const Extents inner = inner_extents(plan);
  if (!plan.token_maps.empty() || plan.joins_heads) {
    Call on_mapped = inner_call(plan);
    const bool draws = std::any_of(on_mapped.parameters.begin(), on_mapped.parameters.end(),
                                   [](const auto& entry) { return entry.second == "random"; });
    if (!draws) on_mapped.parameters.erase("seed");
    plan.inner = resolve_attention(on_mapped, inner, row);
  }
  plan.output = output_sizes(plan, inner.value);
  plan.pairs = {extents.batch, extents.head, extents.query, extents.key};
  return resolver.take();
}

}  // namespace conelab
