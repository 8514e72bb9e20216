#include "core/operators/operator.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/call/composed.h"
#include "core/tiles/interval_attention.h"

namespace conelab {
namespace {

/// Returns `count` edges, from each of n tokens in turn to random others.
std::vector<std::int64_t> random_edges(std::int64_t count, std::int64_t n, Random& random) {
  std::vector<std::int64_t> edges;
  for (std::int64_t e = 0; e < count; ++e) {
    edges.push_back(e % n);
    edges.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n))));
  }
  return edges;
}

}  // namespace

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
Evaluation evaluation_of(const Plan& plan, const AttentionInput<T>& input, Pass pass) {
  const bool intervals = takes_intervals<T>(plan, plan.mask(input), pass);
  return intervals ? Evaluation::intervals : Evaluation::pairs;
}

template <class T>
double pass_flops(const Plan& plan, const AttentionInput<T>& input, Pass pass) {
  if (evaluation_of(plan, input, pass) == Evaluation::intervals) {
    const Extents& e = plan.extents;
    const auto tokens = static_cast<double>(e.query + e.key);
    const double depth = tokens < 2 ? 1 : std::log2(tokens);
    return (pass == Pass::forward ? 4 : 10) * static_cast<double>(e.batch * e.head) * tokens *
           depth * static_cast<double>(e.value + 1);
  }
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
                     row.info.paper,
                     {row.info.parameters.begin(), row.info.parameters.end()},
                     ""},
                    row.info.cost});
  }
  for (const NamedOperator& named : named_operators) {
    Call call;
    set_operator(call, named.name);
    list.push_back({{named.name, named.about, named.paper, part_parameters(call), ""}, named.cost});
  }
  return list;
}

template <class T>
std::shared_ptr<const Plan> draw_tensors(const Call& call, AttentionInput<T>& input,
                                         std::uint64_t seed) {
  const auto is_there = [&](const char* key) {
    return input.tensors.contains(key) || input.indices.contains(key);
  };
  const auto plan = resolve(call, check_extents(input));  // It checks the seed, too.
  if (const auto given = call.parameters.find("seed"); given != call.parameters.end()) {
    const std::optional<double> number = given->second.number();
    if (!number) misuse("parameter seed is one number (found '{}')", given->second.text());
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
  return plan;
}

#define CONELAB_OPERATORS(T)                                                              \
  template Forward<T> forward(const Plan&, const AttentionInput<T>&, const Execution&);   \
  template Backward<T> backward(const Plan&, const AttentionInput<T>&, const Forward<T>&, \
                                const Execution&);                                        \
  template Evaluation evaluation_of(const Plan&, const AttentionInput<T>&, Pass);         \
  template double pass_flops(const Plan&, const AttentionInput<T>&, Pass);                \
  template std::shared_ptr<const Plan> draw_tensors(const Call&, AttentionInput<T>&, std::uint64_t);
CONELAB_EACH_TYPE(CONELAB_OPERATORS)

}  // namespace conelab
