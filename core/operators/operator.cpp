#include "core/operators/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/random.h"
#include "core/call/composed.h"
#include "core/call/resolver.h"

namespace conelab {
namespace {

template <class T>
const OperatorFunctions<T>& functions_of(const Plan& plan) {
  const OperatorRow& row = *plan.operation;
  if constexpr (std::is_same_v<T, double>) return row.f64;
  if constexpr (std::is_same_v<T, float>) return row.f32;
  if constexpr (std::is_same_v<T, Float16>) return row.f16;
  if constexpr (std::is_same_v<T, Bfloat16>) return row.bf16;
}

const OperatorRow& row_of(const std::string& name) {
  for (const OperatorRow& row : operator_table()) {
    if (name == row.info.name) return row;
  }
  unknown_name("operator", name, operator_names());
}

/// Refuses what a structured operator does not combine with.
void check_parts(const Call& call, const OperatorInfo& info) {
  const std::vector<std::string> fitting(info.masks.begin(), info.masks.end());
  for (const std::string& mask : call.masks) {
    if (std::find(fitting.begin(), fitting.end(), mask) != fitting.end()) continue;
    misuse("{} does not combine with mask {} (it takes: {})", info.name, mask, join(fitting));
  }
  for (const CallField& field : call_fields()) {
    if (field.list != nullptr || is_default(field, call)) continue;
    if (field.word == &Call::position && call.position == "sinusoidal") continue;
    misuse(
        "{} does not combine with {} {} (it takes masks {}, position sinusoidal, and parameters)",
        info.name, field.name, field_text(field, call, ','), join(fitting));
  }
}

std::shared_ptr<Plan> resolve_structured(const Call& call, const Extents& extents,
                                         const OperatorRow& row) {
  check_parts(call, row.info);
  Resolver resolver(call, extents);
  choose_tokens(resolver);
  resolver.add_masks();
  resolver.plan().operator_parameters = resolver.add(row.info.name, row.info.parameters);
  resolver.check_keys(row.info.name);
  resolver.plan().operation = &row;
  if (row.check != nullptr) row.check(resolver.plan());
  if (!resolver.plan().token_maps.empty()) {
    resolver.plan().inner = resolve_structured(inner_call(resolver.plan()), extents, row);
  }
  return resolver.take();
}

/// Edges from each of n tokens in turn to random others.
std::vector<std::int64_t> random_edges(std::int64_t count, std::int64_t n, Random& random) {
  std::vector<std::int64_t> edges;
  for (std::int64_t e = 0; e < count; ++e) {
    edges.push_back(e % n);
    edges.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n))));
  }
  return edges;
}

/// One head's numbers as a call names them: sides joined by x, those of several axes by commas.
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

}  // namespace

std::shared_ptr<const Plan> resolve(const Call& call, const Extents& extents) {
  const OperatorRow& row = row_of(call.operation);
  return is_attention(call) ? resolve_attention(call, extents, row)
                            : resolve_structured(call, extents, row);
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
  const double all = plan.operation->flops(plan, pass);
  return is_attention(plan.call) ? all * plan.mask(input).share() : all;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const PartInfo& part : list_similarities()) names.push_back(part.name);
  for (const OperatorRow& row : operator_table().subspan(1)) names.emplace_back(row.info.name);
  for (const NamedOperator& named : named_operators) names.emplace_back(named.name);
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
  return tensors;
}

template <class T>
std::map<std::string, Array<T>> tensors_of_head(const std::map<std::string, Array<T>>& tensors,
                                                std::int64_t head) {
  std::map<std::string, Array<T>> part = tensors;
  for (const ParameterInfo& info : tensor_parameters()) {
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
                                std::int64_t head) {
  AttentionInput<T> part{head_of(input.query, batch, head), head_of(input.key, batch, head),
                         head_of(input.value, batch, head),
                         head_of(input.output_grad, batch, head)};
  part.allowed = input.allowed;
  if (!input.key_lengths.empty()) {
    part.key_lengths = {input.key_lengths[static_cast<std::size_t>(batch)]};
  }
  part.indices = input.indices;
  part.tensors = tensors_of_head(input.tensors, head);
  return part;
}

std::vector<ParameterInfo> call_parameters(const Call& call) {
  std::vector<ParameterInfo> all = part_parameters(call);
  if (is_attention(call)) return all;
  for (const OperatorRow& row : operator_table()) {
    if (call.operation != row.info.name) continue;
    all.insert(all.end(), row.info.parameters.begin(), row.info.parameters.end());
  }
  return all;
}

Call with_random_tensors(Call call) {
  for (const ParameterInfo& info : call_parameters(call)) {
    const bool needed = info.domain == Domain::tensor && std::isnan(info.initial);
    if (needed) call.parameters.emplace(info.key, "random");
  }
  return call;
}

template <class T>
void draw_tensors(const Call& call, AttentionInput<T>& input, std::uint64_t seed) {
  const auto text = call.parameters.find("seed");
  if (text != call.parameters.end()) seed += std::stoull(text->second);
  const auto is_there = [&](const char* key) {
    return input.tensors.contains(key) || input.indices.contains(key);
  };
  const auto plan = resolve(call, check_extents(input));
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
    Array<T>& tensor = input.tensors[p.info.key];
    tensor.extents = p.extents;
    while (tensor.data.size() < size) {
      tensor.data.push_back(static_cast<T>(spread * random.normal()));
    }
  }
}

Call call_of_head(const Call& call, const Extents& extents, std::int64_t head) {
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

#define CONELAB_OPERATORS(T)                                                                       \
  template Forward<T> forward(const Plan&, const AttentionInput<T>&, const Execution&);            \
  template Backward<T> backward(const Plan&, const AttentionInput<T>&, const Forward<T>&,          \
                                const Execution&);                                                 \
  template std::map<std::string, Array<T>> tensors_of_head(const std::map<std::string, Array<T>>&, \
                                                           std::int64_t);                          \
  template AttentionInput<T> input_of_head(const AttentionInput<T>&, std::int64_t, std::int64_t);  \
  template double pass_flops(const Plan&, const AttentionInput<T>&, Pass);                         \
  template void draw_tensors(const Call&, AttentionInput<T>&, std::uint64_t);
CONELAB_OPERATORS(float)
CONELAB_OPERATORS(double)
CONELAB_OPERATORS(Float16)
CONELAB_OPERATORS(Bfloat16)

}  // namespace conelab
