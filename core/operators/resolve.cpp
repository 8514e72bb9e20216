// Resolves calls of all operators to plans, and says which parameters a call has.
#include <algorithm>
#include <atomic>
#include <optional>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/composed.h"
#include "core/call/resolver.h"
#include "core/operators/combines.h"
#include "core/pair/bias.h"

namespace conelab {
namespace {

const OperatorRow* find_row(const Call& call) {
  for (const OperatorRow& row : operator_table()) {
    if (call.operation == row.info.name) return &row;
  }
  return nullptr;
}

std::string_view option_word(const CallField& field) {
  return std::string_view(field.option).substr(2);
}

/// Returns the fields of a call, except the masks, that a structured operator accepts, each with
/// its parts unless it accepts all: "weights, position sinusoidal".
std::string accepted_fields(const OperatorInfo& info) {
  std::vector<std::string> texts;
  for (const Combination& c : combinations(info.name)) {
    const CallField* field = find_named(call_fields(), c.field);
    if (field->list != nullptr) continue;
    texts.emplace_back(option_word(*field));
    if (contains(info.fields, field->name)) continue;
    for (const std::string& part : c.parts) texts.back() += part == "none" ? "" : " " + part;
  }
  return join(texts);
}

/// Throws misuse for parts that a structured operator does not combine with.
void check_parts(const Call& call, const OperatorInfo& info) {
  const auto masks = [&] { return join(combinations(info.name).front().parts); };
  for (const std::string& mask : call.masks) {
    if (combines(info.name, "masks", mask)) continue;
    misuse("{} does not combine with mask {} (it takes: {})", info.name, mask, masks());
  }
  for (const CallField& field : call_fields()) {
    if (field.list != nullptr || contains(info.fields, field.name)) continue;
    const std::string text = field_text(field, call, ',');
    if (is_default(field, call) || text == field_text(field, Call{}, ',')) continue;
    if (combines(info.name, field.name, text)) continue;
    misuse("{} does not combine with {} {} (it takes masks {}, {}, and parameters)", info.name,
           option_word(field), text, masks(), accepted_fields(info));
  }
}

/// Returns those of an operator's parameters that do not belong to its chain.
std::vector<ParameterInfo> own_parameters(const OperatorInfo& info) {
  std::vector<ParameterInfo> own;
  const std::vector<ParameterInfo> projections = projection_parameters();
  for (const ParameterInfo& p : info.parameters) {
    if (!info.makes_heads || !contains_key(projections, p.key)) own.push_back(p);
  }
  return own;
}

/// Adds the sizes of a projection that is to be drawn to `made`. The heads share the columns unless
/// another tensor gives the number of rows.
void draw_projection(const char* name, const char* like, std::int64_t columns, const Call& call,
                     Extents& made) {
  const auto value = call.parameters.find(name);
  const bool drawn = value != call.parameters.end() && value->second.is_random();
  if (!drawn || made.tensors.contains(name)) return;
  const auto given = made.tensors.find(like);
  const bool told = given != made.tensors.end() && given->second.size() >= 2;
  const std::int64_t rows = told ? given->second[given->second.size() - 2] : columns / made.head;
  if (!told && columns % made.head != 0) {
    fail("{} columns cannot be shared by {} heads of {} (expected a multiple)", columns, made.head,
         name);
  }
  made.tensors[name] = {made.head, rows, columns};
}

/// Returns the extents with the heads that projections make of tokens with one head, including
/// projections to be drawn. Writes the number of heads into the call.
Extents with_made_heads(Call& call, const Extents& extents, const OperatorInfo& info) {
  if (extents.head != 1) {
    fail(
        "{} makes its own heads: q, k and v must have one (found {}; choose one, as by `conelab "
        "attend --head 0`)",
        info.name, extents.head);
  }
  Extents made = extents;
  std::optional<std::int64_t> found;
  for (const ParameterInfo& p : info.parameters) {
    const auto tensor = extents.tensors.find(p.key);
    if (is_missing(p, call, extents)) {
      fail(
          "{} needs tensor {} {}, with or without an axis of heads before it, {}: a dataset of "
          "that name beside q, -p {}=@FILE.npy or -p {}=random{}",
          info.name, p.key, shape_text(p), p.about, p.key, p.key,
          also_needed(info.parameters, call, extents, p.key));
    }
    if (is_required(p) && tensor != extents.tensors.end() && tensor->second.size() == 3) {
      found = found.value_or(tensor->second.front());
    }
  }
  const auto given = call.parameters.emplace("heads", static_cast<double>(found.value_or(1))).first;
  made.head = std::max<std::int64_t>(1, std::llround(given->second.number().value_or(1)));
  made.key_head = made.value_head = 1;
  if (found && *found != made.head) {
    misuse("{}: the projections make {} heads (found heads={})", info.name, *found,
           given->second.text());
  }
  draw_projection("P_query", "P_key", extents.feature, call, made);
  draw_projection("P_key", "P_query", extents.feature, call, made);
  draw_projection("P_value", "", extents.value, call, made);
  return made;
}

/// Throws misuse for keys that neither a structured operator nor its parts accept.
void check_all_keys(const Call& call) {
  std::vector<std::string> known = all_keys(call_parameters(call));
  if (draws_tensors(call)) known.emplace_back("seed");
  check_keys(call.parameters, known, call.operation);
}

/// Adds the parameters of a plan's chain to its own, except those of a similarity that the operator
/// chooses.
void take_chain_parameters(Plan& plan, const OperatorInfo& info) {
  const Plan& chain = *plan.chain;
  const bool chooses = !contains(info.fields, "similarity");
  for (std::size_t i = 0; i < chain.parameters.size(); ++i) {
    const Parameter& p = chain.parameters[i];
    const auto& own = chain.similarity_parameters;
    if (chooses && contains(own, i)) continue;
    const bool known = std::ranges::any_of(plan.parameters, [&](const Parameter& q) {
      return std::string_view(p.info.key) == q.info.key;
    });
    if (!known) plan.parameters.push_back(p);
  }
}

std::shared_ptr<Plan> resolve_chained(Call call, const Extents& extents, const OperatorRow& row) {
  check_all_keys(call);
  const Extents made = row.info.makes_heads ? with_made_heads(call, extents, row.info) : extents;
  Resolver resolver(call, extents);
  Plan& plan = resolver.plan();
  plan.operation = &row;
  plan.operator_parameters = resolver.add(row.info.name, own_parameters(row.info), row.initial);
  plan.chain = row.chain(plan, made);
  if (contains(row.info.fields, "map")) plan.call.map = plan.chain->call.map;
  take_chain_parameters(plan, row.info);
  if (row.check != nullptr) row.check(plan);
  row.set_sizes(plan);
  return resolver.take();
}

std::shared_ptr<Plan> resolve_structured(const Call& call, const Extents& extents,
                                         const OperatorRow& row) {
  check_parts(call, row.info);
  if (!(extents.positions == Positions{})) {
    misuse("{} takes whole sequences (found a slice of them; attention takes slices)",
           row.info.name);
  }
  if (row.chain != nullptr) return resolve_chained(call, extents, row);
  Resolver resolver(call, extents);
  choose_tokens(resolver, nullptr);
  resolver.add_masks();
  resolver.plan().operator_parameters =
      resolver.add(row.info.name, row.parameters(call), row.initial);
  resolver.check_keys(row.info.name);
  resolver.plan().operation = &row;
  if (row.check != nullptr) row.check(resolver.plan());
  if (!resolver.plan().token_maps.empty()) {
    resolver.plan().inner = resolve_structured(inner_call(resolver.plan(), nullptr), extents, row);
  }
  row.set_sizes(resolver.plan());
  return resolver.take();
}

/// Returns the name of a tensor of the call's bias, or "" if the bias does not depend on queries.
std::string relative_tensor(const Call& call, RelativePositions which) {
  const BiasRow* bias = find_bias(call.bias);
  if (bias == nullptr || !bias->of_queries) return "";
  return bias->parameters[static_cast<std::size_t>(which)].key;
}

/// Lets the tensor of values be drawn for a similarity that does not combine with that of keys.
void draw_relative_positions(Call& call) {
  const std::string keys = relative_tensor(call, RelativePositions::keys);
  if (keys.empty() || !maps_tokens(call.similarity) || call.parameters.contains(keys)) return;
  call.parameters.emplace(relative_tensor(call, RelativePositions::values), "random");
}

/// Returns whether a tensor is not needed because the call names the other one of its bias.
bool is_replaced(const ParameterInfo& info, const Call& call) {
  return info.key == relative_tensor(call, RelativePositions::keys) &&
         call.parameters.contains(relative_tensor(call, RelativePositions::values));
}

bool info_says(const Call& call, bool OperatorInfo::*flag) {
  const OperatorRow* row = find_row(call);
  return row != nullptr && row->info.*flag;
}

}  // namespace

std::shared_ptr<Plan> resolve_chain(const Call& call, const Extents& extents) {
  return resolve_attention(call, extents, operator_table().front());
}

bool reads_keys(const Call& call) { return info_says(call, &OperatorInfo::reads_keys); }
bool ignores_values(const Call& call) { return info_says(call, &OperatorInfo::ignores_values); }
bool makes_heads(const Call& call) { return info_says(call, &OperatorInfo::makes_heads); }

namespace {

std::atomic<std::int64_t> resolved = 0;

}  // namespace

std::int64_t resolve_count() { return resolved; }

std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents) {
  ++resolved;
  const OperatorRow* row = find_row(call);
  if (row == nullptr) unknown_name("operator", call.operation, operator_names());
  return is_attention(call) ? resolve_attention(call, extents, *row)
                            : resolve_structured(call, extents, *row);
}

std::vector<ParameterInfo> all_parameters() {
  std::vector<ParameterInfo> all;
  const auto add = [&](const std::vector<ParameterInfo>& infos) {
    for (const ParameterInfo& info : infos) {
      if (!contains_key(all, info.key)) all.push_back(info);
    }
  };
  for (const OperatorListing& listing : list_operators()) add(listing.part.parameters);
  for (const CallField& field : call_fields()) {
    for (const PartInfo& part : field.parts()) add(part.parameters);
  }
  add(projection_parameters());
  add({soft_cap});
  return all;
}

std::vector<ParameterInfo> tensor_parameters() {
  std::vector<ParameterInfo> tensors = all_parameters();
  std::erase_if(tensors, [](const ParameterInfo& info) { return info.domain != Domain::tensor; });
  return tensors;
}

std::vector<ParameterInfo> projection_parameters() {
  std::vector<ParameterInfo> all;
  for (const TokenMapRow& row : token_projections()) all.push_back(row.parameters.front());
  all.push_back(output_projection);
  return all;
}

std::vector<ParameterInfo> call_parameters(const Call& call) {
  const OperatorRow* row = find_row(call);
  const OperatorInfo none{};
  const OperatorInfo& info = row == nullptr ? none : row->info;
  std::vector<ParameterInfo> all = part_parameters(call, info.fields);
  if (is_attention(call)) {
    const std::vector<ParameterInfo> projections = projection_parameters();
    all.insert(all.end(), projections.begin(), projections.end());
  }
  if (is_attention(call) || (row != nullptr && row->chain != nullptr)) all.push_back(soft_cap);
  if (row != nullptr && row->parameters != nullptr) {
    const std::span<const ParameterInfo> own = row->parameters(call);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Call with_random_tensors(Call call) {
  draw_relative_positions(call);
  for (const ParameterInfo& info : call_parameters(call)) {
    if (is_required(info) && !is_replaced(info, call)) call.parameters.emplace(info.key, "random");
  }
  const OperatorRow* row = find_row(call);
  if (row == nullptr) return call;
  const auto& own = row->info.parameters;
  const bool names_one = std::ranges::any_of(own, [&](const ParameterInfo& info) {
    return info.domain == Domain::tensor && call.parameters.contains(info.key);
  });
  for (const char* name : row->info.drawn) {
    if (!names_one) call.parameters.emplace(name, "random");
  }
  return call;
}

}  // namespace conelab
