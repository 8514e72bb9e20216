#include "core/operators/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/base/random.h"
#include "core/call/composed.h"
#include "core/call/resolver.h"
#include "core/operators/combines.h"

namespace conelab {
namespace {

/// Returns the row that a call names, or null.
const OperatorRow* find_row(const Call& call) {
  for (const OperatorRow& row : operator_table()) {
    if (call.operation == row.info.name) return &row;
  }
  return nullptr;
}

/// Returns the tensors of projections, which every chain of parts accepts.
std::vector<ParameterInfo> projection_parameters() {
  std::vector<ParameterInfo> all;
  for (const TokenMapRow& row : token_projections()) all.push_back(row.parameters.front());
  all.push_back(output_projection);
  return all;
}

bool contains(std::span<const char* const> names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view known) { return known == name; });
}

/// Returns the field's option without its dashes: "value-map".
std::string_view option_word(const CallField& field) {
  return std::string_view(field.option).substr(2);
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
    std::vector<std::string> others;
    for (const CallField& other : call_fields()) {
      if (contains(info.fields, other.name)) others.emplace_back(option_word(other));
    }
    if (!contains(info.fields, "position")) others.emplace_back("position sinusoidal");
    misuse("{} does not combine with {} {} (it takes masks {}, {}, and parameters)", info.name,
           option_word(field), text, masks(), join(others));
  }
}

/// Returns those of an operator's parameters that do not belong to its chain.
std::vector<ParameterInfo> own_parameters(const OperatorInfo& info) {
  std::vector<ParameterInfo> own;
  const std::vector<ParameterInfo> projections = projection_parameters();
  for (const ParameterInfo& p : info.parameters) {
    const bool of_chain = std::any_of(projections.begin(), projections.end(), [&](const auto& q) {
      return std::string_view(p.key) == q.key;
    });
    if (!info.makes_heads || !of_chain) own.push_back(p);
  }
  return own;
}

/// Adds the sizes of a projection that is to be drawn to `made`. The heads share the columns unless
/// another tensor gives the number of rows.
void draw_projection(const char* name, const char* like, std::int64_t columns, const Call& call,
                     Extents& made) {
  const auto text = call.parameters.find(name);
  const bool drawn = text != call.parameters.end() && text->second == "random";
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
    const bool is_needed = p.domain == Domain::tensor && std::isnan(p.initial);
    if (is_needed && tensor == extents.tensors.end() && !call.parameters.contains(p.key)) {
      fail(
          "{} needs tensor {} {}, with or without an axis of heads before it, {}: a dataset of "
          "that name beside q, -p {}=@FILE.npy or -p {}=random",
          info.name, p.key, shape_text(p), p.about, p.key, p.key);
    }
    if (is_needed && tensor != extents.tensors.end() && tensor->second.size() == 3) {
      found = found.value_or(tensor->second.front());
    }
  }
  const auto given = call.parameters.emplace("heads", std::to_string(found.value_or(1))).first;
  made.head = std::max<std::int64_t>(1, parse_integer(given->second).value_or(1));
  if (found && *found != made.head) {
    misuse("{}: the projections make {} heads (found heads={})", info.name, *found, given->second);
  }
  draw_projection("P_query", "P_key", extents.feature, call, made);
  draw_projection("P_key", "P_query", extents.feature, call, made);
  draw_projection("P_value", "", extents.value, call, made);
  return made;
}

/// Throws misuse for keys that neither a structured operator nor its parts accept.
void check_all_keys(const Call& call) {
  std::vector<std::string> known;
  for (const ParameterInfo& info : call_parameters(call)) known.emplace_back(info.key);
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
    if (chooses && std::find(own.begin(), own.end(), i) != own.end()) continue;
    const bool known =
        std::any_of(plan.parameters.begin(), plan.parameters.end(),
                    [&](const Parameter& q) { return std::string_view(p.info.key) == q.info.key; });
    if (!known) plan.parameters.push_back(p);
  }
}

/// Returns the plan of an operator that runs a chain of parts.
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

/// Returns `count` edges, from each of n tokens in turn to random others.
std::vector<std::int64_t> random_edges(std::int64_t count, std::int64_t n, Random& random) {
  std::vector<std::int64_t> edges;
  for (std::int64_t e = 0; e < count; ++e) {
    edges.push_back(e % n);
    edges.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n))));
  }
  return edges;
}

/// Returns the numbers of one head as text of a call: grid sides joined by x, other lists by
/// commas.
std::string text_of_head(const Parameter& p, std::int64_t head) {
  if (p.extents.empty()) return fmt::format("{:.17g}", p.at(head));
  const auto axes = static_cast<std::size_t>(p.extents.back());
  const std::size_t first = p.values.size() > axes ? static_cast<std::size_t>(head) * axes : 0;
  std::string text;
  for (std::size_t a = 0; a < axes; ++a) {
    const char* before = a == 0 ? "" : p.info.domain == Domain::whole ? "x" : ",";
    text += fmt::format("{}{:.17g}", before, p.values[first + a]);
  }
  return text;
}

/// Returns the extents with the one head of tokens from which the call's operator makes its heads.
/// Throws a failure if a tensor of the input has an axis of the input's heads.
Extents with_one_head(const Call& call, Extents extents) {
  for (const ParameterInfo& info : call_parameters(call)) {
    const auto found = extents.tensors.find(info.key);
    if (extents.head == 1 || info.domain != Domain::tensor || found == extents.tensors.end()) {
      continue;
    }
    if (found->second.size() > tensor_rank(info)) {
      fail(
          "{} makes its heads from one of the input's {}, and tensor {} has an axis of heads (draw "
          "the weights of a result of `conelab attend --head N`)",
          operator_name(call), extents.head, info.key);
    }
  }
  extents.head = 1;
  return extents;
}

}  // namespace

std::shared_ptr<Plan> resolve_chain(const Call& call, const Extents& extents) {
  return resolve_attention(call, extents, operator_table().front());
}

bool reads_keys(const Call& call) {
  const OperatorRow* row = find_row(call);
  return row != nullptr && row->info.reads_keys;
}

bool makes_heads(const Call& call) {
  const OperatorRow* row = find_row(call);
  return row != nullptr && row->info.makes_heads;
}

std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents) {
  const OperatorRow* row = find_row(call);
  if (row == nullptr) unknown_name("operator", call.operation, operator_names());
  return is_attention(call) ? resolve_attention(call, extents, *row)
                            : resolve_structured(call, extents, *row);
}

template <class T>
Forward<T> forward(const Plan& plan, const AttentionInput<T>& input, const Execution& run) {
  return functions_of<T>(plan).forward(plan, input, run);
}

template <class T>
Backward<T> backward(const Plan& plan, const AttentionInput<T>& input, const Forward<T>& saved,
                     const Execution& run) {
  return functions_of<T>(plan).backward(plan, input, saved, run);
}

template <class T>
double pass_flops(const Plan& plan, const AttentionInput<T>& input, Pass pass) {
  return plan.operation->flops(plan, pass, plan.mask(input).share());
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const OperatorListing& listing : list_operators()) names.push_back(listing.part.name);
  return names;
}

std::vector<OperatorListing> list_operators() {
  std::vector<OperatorListing> list;
  for (const PartInfo& part : list_similarities()) list.push_back({part, "n^2"});
  for (const OperatorRow& row : operator_table().subspan(1)) {
    list.push_back({{row.info.name,
                     row.info.about,
                     {row.info.parameters.begin(), row.info.parameters.end()},
                     ""},
                    row.info.cost});
  }
  for (const NamedOperator& named : named_operators) {
    Call call;
    set_operator(call, named.name);
    list.push_back({{named.name, named.about, part_parameters(call), ""}, named.cost});
  }
  return list;
}

std::vector<ParameterInfo> tensor_parameters() {
  std::vector<ParameterInfo> tensors;
  const auto add = [&](const std::vector<ParameterInfo>& infos) {
    for (const ParameterInfo& info : infos) {
      const bool known = std::any_of(tensors.begin(), tensors.end(), [&](const ParameterInfo& t) {
        return std::string_view(t.key) == info.key;
      });
      if (info.domain == Domain::tensor && !known) tensors.push_back(info);
    }
  };
  for (const OperatorListing& listing : list_operators()) add(listing.part.parameters);
  for (const CallField& field : call_fields()) {
    for (const PartInfo& part : field.parts()) add(part.parameters);
  }
  add(projection_parameters());
  return tensors;
}

template <class T>
std::map<std::string, Array<T>> tensors_of_head(const std::map<std::string, Array<T>>& tensors,
                                                std::int64_t head,
                                                const std::vector<ParameterInfo>& infos) {
  std::map<std::string, Array<T>> part = tensors;
  for (const ParameterInfo& info : infos) {
    if (info.domain != Domain::tensor) continue;
    const auto found = part.find(info.key);
    const std::size_t rank = tensor_rank(info);
    if (found == part.end() || found->second.extents.size() <= rank) continue;
    const Array<T>& all = tensors.at(info.key);
    Array<T>& own = found->second;
    own.extents.erase(own.extents.begin());
    const std::size_t size = all.data.size() / static_cast<std::size_t>(all.extents.front());
    own.data.assign(all.of_head(head, rank), all.of_head(head, rank) + size);
  }
  return part;
}

template <class T>
AttentionInput<T> input_of_head(const AttentionInput<T>& input, std::int64_t batch,
                                std::int64_t head, const std::vector<ParameterInfo>& infos) {
  AttentionInput<T> part{head_of(input.query, batch, head), head_of(input.key, batch, head),
                         head_of(input.value, batch, head),
                         head_of(input.output_grad, batch, head)};
  part.allowed = input.allowed;
  if (!input.key_lengths.empty()) {
    part.key_lengths = {input.key_lengths[static_cast<std::size_t>(batch)]};
  }
  part.indices = input.indices;
  const bool alone = input.query.shape.head == 1;
  part.tensors = alone ? input.tensors : tensors_of_head(input.tensors, head, infos);
  return part;
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
  if (row != nullptr && row->parameters != nullptr) {
    const std::span<const ParameterInfo> own = row->parameters(call);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Call with_random_tensors(Call call) {
  for (const ParameterInfo& info : call_parameters(call)) {
    const bool needed = info.domain == Domain::tensor && std::isnan(info.initial);
    if (needed) call.parameters.emplace(info.key, "random");
  }
  const OperatorRow* row = find_row(call);
  if (row == nullptr) return call;
  const auto& own = row->info.parameters;
  const bool names_one = std::any_of(own.begin(), own.end(), [&](const ParameterInfo& info) {
    return info.domain == Domain::tensor && call.parameters.contains(info.key);
  });
  for (const char* name : row->info.drawn) {
    if (!names_one) call.parameters.emplace(name, "random");
  }
  return call;
}

template <class T>
void draw_tensors(const Call& call, AttentionInput<T>& input, std::uint64_t seed) {
  const auto is_there = [&](const char* key) {
    return input.tensors.contains(key) || input.indices.contains(key);
  };
  const auto plan = resolve(call, check_extents(input));  // It checks the seed, too.
  if (const auto text = call.parameters.find("seed"); text != call.parameters.end()) {
    const std::optional<double> number = parse_number(text->second);
    if (!number) misuse("parameter seed is one number (found '{}')", text->second);
    seed += static_cast<std::uint64_t>(*number);
  }
  for (const Parameter& p : plan->parameters) {
    if (p.info.domain != Domain::tensor || p.extents.empty() || is_there(p.info.key)) continue;
    std::uint64_t own = seed;
    for (const char* c = p.info.key; *c != 0; ++c) own = 31 * own + static_cast<unsigned char>(*c);
    Random random(own);
    if (std::string_view(p.info.key) == "edge") {
      const std::int64_t n = std::max(plan->extents.query, plan->extents.key);
      input.indices["edge"] = {p.extents, random_edges(p.extents.front(), n, random)};
      continue;
    }
    std::size_t size = 1;
    for (const std::int64_t n : p.extents) size *= static_cast<std::size_t>(n);
    const double spread = 1 / std::sqrt(static_cast<double>(p.extents.back()));
    Array<double> tensor{p.extents, {}};
    while (tensor.data.size() < size) tensor.data.push_back(spread * random.normal());
    if (const auto adjust = plan->operation->adjust_drawn) adjust(*plan, tensor);
    input.tensors[p.info.key] = convert<T>(tensor);
  }
}

Call call_of_head(const Call& call, const Extents& extents, std::int64_t head) {
  if (makes_heads(call)) return resolve(call, with_one_head(call, extents))->call;
  const auto plan = resolve(call, extents);
  Call one = plan->call;
  one.parameters.clear();
  for (const Parameter& p : plan->parameters) {
    const auto given = call.parameters.find(p.info.key);
    if (p.info.domain == Domain::tensor && given != call.parameters.end()) {
      one.parameters[p.info.key] = given->second;
    }
    if (p.is_number()) one.parameters[p.info.key] = text_of_head(p, head);
  }
  if (const ComposedSimilarity* composed = find_composed(call.similarity)) {
    one.parameters.erase(composed->fixed);
  }
  for (const auto& [key, word] : choices(*plan)) one.parameters[key] = word;
  return one;
}

#define CONELAB_OPERATORS(T)                                                                     \
  template Forward<T> forward(const Plan&, const AttentionInput<T>&, const Execution&);          \
  template Backward<T> backward(const Plan&, const AttentionInput<T>&, const Forward<T>&,        \
                                const Execution&);                                               \
  template std::map<std::string, Array<T>> tensors_of_head(                                      \
      const std::map<std::string, Array<T>>&, std::int64_t, const std::vector<ParameterInfo>&);  \
  template AttentionInput<T> input_of_head(const AttentionInput<T>&, std::int64_t, std::int64_t, \
                                           const std::vector<ParameterInfo>&);                   \
  template double pass_flops(const Plan&, const AttentionInput<T>&, Pass);                       \
  template void draw_tensors(const Call&, AttentionInput<T>&, std::uint64_t);
CONELAB_OPERATORS(float)
CONELAB_OPERATORS(double)
CONELAB_OPERATORS(Float16)
CONELAB_OPERATORS(Bfloat16)

}  // namespace conelab
