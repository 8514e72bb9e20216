// Makes the plan of a chain of parts: tokens, map, similarity, bias, masks, weights, aggregate.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/composed.h"
#include "core/call/resolver.h"

namespace conelab {
namespace {

/// Returns the default scale of the product, the only default of a similarity that depends on the
/// input.
double inverse_root_of_columns(int, const DefaultContext& context) {
  return 1 / std::sqrt(std::max(1.0, static_cast<double>(context.feature)));
}

/// Returns the row of a similarity that serves the words which the call chooses, or null if no row
/// has the name. Throws misuse if there is no row for these words.
const SimilarityRow* chosen_row(Resolver& resolver, const std::string& similarity) {
  const SimilarityRow* first = find_similarity(similarity);
  if (first == nullptr) return nullptr;
  std::vector<std::string> words;
  std::string text;
  for (const ChosenWord& word : first->info.words) {
    if (word.choice == nullptr) continue;
    const ParameterSet set = resolver.add(similarity, {word.choice, 1});
    const Parameter& choice = resolver.plan().parameters[set.front()];
    words.push_back(choice_words(choice.info)[static_cast<std::size_t>(choice.values.front())]);
    text += fmt::format("{}{}={}", text.empty() ? "" : " with ", choice.info.key, words.back());
  }
  const SimilarityRow* row = find_similarity(similarity, words);
  if (row == nullptr) {
    misuse("{} has no formula for {}: the published code has no such form", similarity, text);
  }
  return row;
}

void choose_similarity(Resolver& resolver, const ComposedSimilarity* composed) {
  Plan& plan = resolver.plan();
  const std::string name = composed == nullptr ? plan.call.similarity : composed->similarity;
  plan.similarity = chosen_row(resolver, name);
  if (plan.similarity == nullptr) unknown_name("similarity", name, names_of(list_similarities()));
  if (composed != nullptr && *composed->fixed != 0) {
    plan.similarity_parameters =
        resolver.add_fixed(plan.similarity->parameters.front(), composed->value);
  } else {
    plan.similarity_parameters =
        resolver.add(name, plan.similarity->parameters, &inverse_root_of_columns);
  }
}

/// Throws misuse if the similarity takes a map with another word of one of its choices.
void check_word_of_map(const SimilarityInfo& chosen, const std::string& map) {
  for (const SimilarityRow& row : similarity_table()) {
    if (row.info.name != std::string_view(chosen.name) || !find_model_map(map, row.info.space))
      continue;
    for (const ChosenWord& w : row.info.words) {
      if (w.choice == nullptr || chosen.has_word(w.word)) continue;
      misuse("map {} of {} needs {}={}", map, chosen.name, w.choice->key, w.word);
    }
  }
}

void choose_map(Resolver& resolver) {
  Plan& plan = resolver.plan();
  std::string& name = plan.call.map;
  const Space space = plan.similarity->info.space;
  if (name.empty()) name = plan.similarity->info.default_map;
  plan.map = find_model_map(name, space);
  if (plan.map == nullptr) {
    check_word_of_map(plan.similarity->info, name);
    std::vector<std::string> fitting;
    for (const ModelMapRow& row : model_map_table()) {
      if (row.space == space) fitting.emplace_back(row.name);
    }
    unknown_name(fmt::format("map for {}", plan.call.similarity), name, fitting);
  }
  if (plan.extents.feature < 1 && space != Space::euclidean) {
    fail("{} needs at least one feature per token (found 0)", plan.call.similarity);
  }
  plan.map_parameters = resolver.add("map " + name, plan.map->parameters);
}

bool has_tensor(const Plan& plan, const char* name) {
  return plan.extents.tensors.contains(name) || plan.call.parameters.contains(name);
}

/// Returns the rows of a matrix that is given, or `otherwise` if it is to be drawn.
std::int64_t given_rows(const Plan& plan, const char* name, std::int64_t otherwise) {
  const auto found = plan.extents.tensors.find(name);
  const bool given = found != plan.extents.tensors.end() && found->second.size() >= 2;
  return given ? found->second[found->second.size() - 2] : otherwise;
}

/// Adds a map of tokens with this number of columns. Returns the number of columns of the mapped
/// tokens.
std::int64_t add_tokens(Plan& plan, const TokenMapRow& row, const ParameterSet& set,
                        std::int64_t columns) {
  std::vector<Parameter> own;
  for (const std::size_t i : set) own.push_back(plan.parameters[i]);
  columns = row.columns(columns, own);
  plan.token_maps.push_back({&row, set, columns});
  return columns;
}

/// Adds the projections that are given: those of tokens first, then that of the joined outputs of
/// heads. Queries and keys must get the same number of columns. If only one of them is projected,
/// it keeps its number.
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
  resolver.set_size("d", feature);  // What follows works on projected tokens only.
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

/// Returns the other token maps of the call, in order: the position, the map of a composed
/// similarity, which is part of its formula, and the map of values.
std::vector<const TokenMapRow*> token_maps_of(const Call& call,
                                              const ComposedSimilarity* composed) {
  std::vector<const TokenMapRow*> rows;
  if (call.position != "none") {
    rows.push_back(find_token_map(call.position));
    if (rows.back() == nullptr || !rows.back()->is_position) {
      unknown_name("position", call.position, names_of(list_positions()));
    }
  }
  const TokenMapRow* own = composed == nullptr ? nullptr : find_token_map(composed->token_map);
  if (own != nullptr) rows.push_back(own);
  if (call.value_map != "none") {
    rows.push_back(find_token_map(call.value_map));
    if (rows.back() == nullptr || !rows.back()->maps_value) {
      unknown_name("value map", call.value_map, names_of(list_value_maps()));
    }
  }
  return rows;
}

/// Returns the word that the call chooses for a key, or an empty string if it has no such choice.
std::string word_of(const Plan& plan, const std::string& key) {
  const std::map<std::string, std::string> words = choices(plan);
  const auto found = words.find(key);
  return found == words.end() ? "" : found->second;
}

Extents inner_extents(const Plan& plan) {
  Extents inner = plan.extents;
  for (const PlannedTokens& tokens : plan.token_maps) {
    (tokens.row->maps_value ? inner.value : inner.feature) = tokens.columns;
    if (!plan.differs_by_head(tokens.parameters)) continue;
    if (tokens.row->maps_key) inner.key_head = inner.head;
    if (tokens.row->maps_value) inner.value_head = inner.head;
  }
  for (const TokenMapRow& row : token_projections()) inner.tensors.erase(row.name);
  inner.tensors.erase(output_projection.key);
  return inner;
}

/// Adds the columns that replace the bias, if the call asks for them.
void choose_columns(Plan& plan) {
  const BiasColumns& columns = plan.bias->columns;
  if (columns.form == nullptr || word_of(plan, columns.form) != columns.word) return;
  if (std::string_view(plan.similarity->info.name) != "dot") {
    misuse(
        "{}={} appends columns to a dot product (expected dot or multiplicative, found {}; use "
        "another {})",
        columns.form, columns.word, plan.call.similarity, columns.form);
  }
  ParameterSet parameters = plan.bias_parameters;
  parameters.push_back(plan.similarity_parameters.front());
  (void)add_tokens(plan, *find_token_map(columns.map), parameters, inner_extents(plan).feature);
}

/// Returns the name of a tensor of a bias that depends on queries.
const char* relative_tensor(const Plan& plan, RelativePositions which) {
  return plan.bias->parameters[static_cast<std::size_t>(which)].key;
}

/// Adds the bias and its parameters. A bias that depends on queries needs only one of its tensors,
/// that of the values for a similarity that maps queries.
void choose_bias(Resolver& resolver) {
  Plan& plan = resolver.plan();
  plan.bias = &row_named("bias", bias_table(), plan.call.bias);
  std::vector<ParameterInfo> infos(plan.bias->parameters.begin(), plan.bias->parameters.end());
  if (plan.bias->of_queries && !has_tensor(plan, relative_tensor(plan, RelativePositions::keys))) {
    ParameterInfo& keys = infos[static_cast<std::size_t>(RelativePositions::keys)];
    ParameterInfo& values = infos[static_cast<std::size_t>(RelativePositions::values)];
    const bool values_alone = has_tensor(plan, values.key) || maps_tokens(plan.call.similarity);
    if (values_alone) std::swap(keys.initial, values.initial);
  }
  plan.bias_parameters = resolver.add("bias " + plan.call.bias, infos, plan.bias->initial);
}

/// Throws misuse if a bias that depends on queries does not combine with the other parts.
void check_bias(const Plan& plan, bool maps_queries) {
  if (!plan.bias->of_queries) return;
  const char* keys = relative_tensor(plan, RelativePositions::keys);
  const char* values = relative_tensor(plan, RelativePositions::values);
  if (has_tensor(plan, keys) && maps_queries) {
    misuse(
        "{} multiplies the queries themselves, and {} is a formula of other numbers, which its "
        "tensors make of them (expected a similarity without tensors, as dot with P_query, or {} "
        "alone)",
        keys, plan.call.similarity, values);
  }
  if (!has_tensor(plan, values)) return;
  const std::string advice = maps_queries ? "" : fmt::format(" (use {} alone)", keys);
  if (plan.call.value_map != "none" || is_midpoint(plan.aggregate)) {
    misuse("{} is added to values, which are Klein coordinates under {} {}{}", values,
           is_midpoint(plan.aggregate) ? "aggregate" : "value map",
           is_midpoint(plan.aggregate) ? plan.call.aggregate : plan.call.value_map, advice);
  }
  if (plan.weights == WeightLaw::softmax_over_queries) {
    misuse("{} needs weights of one query, found axis=query{}", values, advice);
  }
}

Shape4 output_sizes(const Plan& plan, std::int64_t columns) {
  const Extents& e = plan.extents;
  if (!plan.joins_heads) return {e.batch, e.head, e.query, columns};
  const std::vector<std::int64_t>& p = plan.parameters[plan.output_parameters.front()].extents;
  return {e.batch, 1, e.query, p.front()};
}

void choose_weights(Resolver& resolver) {
  Plan& plan = resolver.plan();
  const WeightRow& row = row_named("weights", weight_rows, plan.call.weights);
  const ParameterSet choice = resolver.add("weights " + plan.call.weights, row.parameters);
  const std::vector<double> word = plan.values(choice, 0);
  plan.weights = row.laws[word.empty() ? 0 : static_cast<std::size_t>(word.front())];
  for (const std::size_t i : choice) {
    const Parameter& p = plan.parameters[i];
    if (p.info.domain == Domain::tensor && !p.extents.empty()) plan.sinks.push_back(i);
  }
  if (!plan.sinks.empty() && plan.weights != WeightLaw::softmax) {
    misuse(
        "sinks take part in the sums over the keys of a query (expected axis=key, found "
        "axis=query)");
  }
}

/// Returns why the sums over pairs cannot be computed by intervals, or an empty string.
std::string why_no_intervals(const Plan& plan) {
  const SimilarityInfo& similarity = plan.similarity->info;
  if (!similarity.has_word("paper") || !similarity.has_word("height")) {
    return "convention=paper and depth=height";
  }
  if (plan.extents.feature != 2) return fmt::format("d = 2 (found {})", plan.extents.feature);
  if (plan.call.bias != "none") return fmt::format("no bias (found {})", plan.call.bias);
  for (const PlannedMask& mask : plan.masks) {
    if (mask.row->whole_range) continue;
    return fmt::format("masks under which a query sees consecutive keys (found {})",
                       mask.row->name);
  }
  if (plan.weights != WeightLaw::softmax) return "weights softmax with axis=key";
  if (!plan.soft_cap.empty()) return "no soft_cap";
  if (!plan.sinks.empty()) return "no sinks";
  if (is_midpoint(plan.aggregate)) return "aggregate mean";
  return "";
}

void choose_evaluation(Resolver& resolver) {
  Plan& plan = resolver.plan();
  if (std::string_view(plan.similarity->info.name) != "umbral") return;
  const ParameterSet set = resolver.add(plan.call.similarity, {&evaluation_choice, 1});
  const auto wanted = static_cast<Evaluation>(plan.values(set, 0).front());
  const std::string needs = why_no_intervals(plan);
  plan.evaluation = needs.empty() ? wanted : Evaluation::pairs;
  const bool is_outer = !plan.token_maps.empty() || plan.joins_heads;
  if (wanted == Evaluation::intervals && !needs.empty() && !is_outer) {
    misuse("evaluation=intervals needs {}", needs);
  }
}

}  // namespace

Call inner_call(const Plan& plan, const ComposedSimilarity* composed) {
  Call call = plan.call;
  call.position = call.value_map = "none";
  for (const PlannedTokens& tokens : plan.token_maps) {
    for (const std::size_t i : tokens.parameters) {
      call.parameters.erase(plan.parameters[i].info.key);
    }
    if (!tokens.row->replaces_bias) continue;
    // The default of the scale depends on the call's own columns.
    call.bias = "none";
    const Parameter& scale = plan.parameters[tokens.parameters.back()];
    call.parameters[scale.info.key] = scale.values;
  }
  if (composed != nullptr && maps_tokens(composed->name)) {
    call.similarity = composed->similarity;
    if (*composed->fixed != 0) {
      call.parameters[composed->fixed] = composed->value;
    }
  }
  if (!draws_tensors(call)) call.parameters.erase("seed");
  call.parameters.erase(output_projection.key);
  return call;
}

void choose_tokens(Resolver& resolver, const ComposedSimilarity* composed) {
  Plan& plan = resolver.plan();
  const Extents projected = inner_extents(plan);
  std::int64_t columns[] = {projected.feature, projected.value};
  for (const TokenMapRow* row : token_maps_of(plan.call, composed)) {
    std::int64_t& own_columns = row->is_added ? plan.extents.feature : columns[row->maps_value];
    if (const char* wrong = row->refuses(own_columns)) {
      fail("{} (found {} = {})", wrong, row->maps_value ? "d_v" : "d", own_columns);
    }
    const bool composes = !row->is_position && !row->maps_value;
    const ParameterSet set =
        resolver.add(composes ? plan.call.similarity : std::string(row->name), row->parameters);
    if (row->is_added) {  // It precedes all other maps.
      plan.token_maps.insert(plan.token_maps.begin(), {row, set, own_columns});
    } else {
      own_columns = add_tokens(plan, *row, set, own_columns);
    }
  }
}

std::shared_ptr<Plan> resolve_attention(const Call& call, const Extents& extents,
                                        const OperatorRow& row, bool is_mapped) {
  Resolver resolver(call, extents);
  Plan& plan = resolver.plan();
  plan.operation = &row;
  const bool maps_queries = !is_mapped && maps_tokens(call.similarity);
  const ComposedSimilarity* composed =
      is_mapped && maps_tokens(call.similarity) ? nullptr : find_composed(call.similarity);
  choose_projections(resolver);
  choose_similarity(resolver, composed);
  choose_map(resolver);
  choose_tokens(resolver, composed);
  choose_bias(resolver);
  choose_columns(plan);
  if (call.parameters.contains(soft_cap.key)) {
    plan.soft_cap = resolver.add(soft_cap.key, {&soft_cap, 1});
  } else {
    resolver.allow(soft_cap.key);
  }
  resolver.add_masks();
  choose_weights(resolver);
  plan.aggregate = row_named("aggregate", aggregate_rows, call.aggregate).aggregate;
  choose_evaluation(resolver);
  resolver.check_keys(call.similarity);
  check_bias(plan, maps_queries);
  const Extents inner = inner_extents(plan);
  if (!plan.token_maps.empty() || plan.joins_heads) {
    plan.inner = resolve_attention(inner_call(plan, composed), inner, row, true);
  }
  plan.output = output_sizes(plan, inner.value);
  plan.pairs = {extents.batch, extents.head, extents.query, extents.key};
  return resolver.take();
}

}  // namespace conelab
