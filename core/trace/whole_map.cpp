#include "core/trace/whole_map.h"

#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/statistics/head_join.h"
#include "core/statistics/rollout.h"
#include "core/trace/layers.h"

namespace conelab {
namespace {

/// Returns [n_q × n_k] with 1 for every pair that a mask hides; empty if none is hidden.
std::vector<std::uint8_t> masked_pairs(const Plan& plan, const AttentionInput<double>& input) {
  if (plan.sees_all()) return {};
  const Mask mask = plan.mask(input);
  const Extents& e = plan.extents;
  std::vector<std::uint8_t> masked(static_cast<std::size_t>(e.query * e.key));
  mask.visible({0, 0, e.query, 0, e.key}, masked.data());
  for (std::uint8_t& pair : masked) pair = pair == 0 ? 1 : 0;
  return masked;
}

/// Returns one head of a stored map as it is in the file.
WholeMap stored_head(const StoredMap& map, std::int64_t batch, std::int64_t head, Map2d quantity) {
  const char* wanted = quantity == Map2d::logits ? "logits" : "weights";
  if (map.name != wanted) misuse("the file holds {} and no {}", map.name, wanted);
  WholeMap whole{map.rows, map.columns, {}, {}, 1};
  const std::size_t first = map.index(batch, head, 0),
                    count = static_cast<std::size_t>(map.rows * map.columns);
  std::visit(
      [&](const auto& all) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
        whole.values.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
      },
      map.numbers);
  for (const double value : whole.values) {
    if (quantity == Map2d::logits) whole.masked.push_back(value == -HUGE_VAL ? 1 : 0);
  }
  return whole;
}

/// Returns another layer of the trace's file.
std::shared_ptr<const Trace> layer_of(const Trace& trace, const std::string& group,
                                      const Execution& execution) {
  auto layer = load_trace(trace.file, group, execution.cancelled, trace.arrays, false);
  const Extents own = trace.extents(), e = layer->extents();
  if (e.query != own.query || e.key != own.key) {
    fail("rollout: {} has {} queries and {} keys, {} has {}", layer_name(group), e.query, e.key,
         layer_name(trace.group), own.query);
  }
  return layer;
}

}  // namespace

WholeMap map_of_head(const Trace& trace, std::int64_t batch, std::int64_t head,
                     const Call& call_of_head, Map2d quantity, const Execution& execution) {
  if (trace.stored) {
    (void)head_input(trace, batch, head);  // It checks the indices.
    return stored_head(*trace.stored, batch, head, quantity);
  }
  const PairCall<double> pairs = pair_call(call_of_head, head_input(trace, batch, head)->exact);
  const Extents& e = pairs.plan->extents;
  check_input(*pairs.plan, pairs.input);
  WholeMap map{e.query, e.key, std::vector<double>(static_cast<std::size_t>(e.query * e.key)),
               masked_pairs(*pairs.plan, pairs.input), e.head};
  Forward<double> saved;
  if (quantity == Map2d::weights) saved = forward(*pairs.plan, pairs.input, execution);
  PairMap<double>(*pairs.plan, pairs.input)
      .tile(quantity, &saved, {0, 0, 0, e.query, 0, e.key}, map.values.data(), execution);
  return map;
}

WholeMap joined_map(const Trace& trace, std::int64_t batch, const CallOnHead& call, bool mean,
                    Map2d quantity, const Execution& execution) {
  WholeMap all;
  std::optional<HeadJoin<double>> join;
  for (std::int64_t head = 0; head < trace.extents().head; ++head) {
    WholeMap one = map_of_head(trace, batch, head, call(trace, head), quantity, quiet(execution));
    for (std::size_t i = 0; i < one.masked.size(); ++i) {
      if (one.masked[i] != 0) one.values[i] = -HUGE_VAL;
    }
    if (!join) {
      join.emplace(one.values.size(), mean, quantity == Map2d::weights);
      all = one;
    }
    if (one.values.size() != all.values.size()) {
      misuse("the maps of the heads differ in size and cannot be joined");
    }
    join->add(one.values.data());
  }
  all.values = join->result();
  all.masked.assign(all.values.size(), 0);
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    if (all.values[i] == -HUGE_VAL) all.masked[i] = 1, all.values[i] = 0;
  }
  return all;
}

void check_rollout(const Extents& e) {
  if (e.query == e.key && e.query <= most_rollout_tokens) return;
  misuse("rollout needs as many queries as keys, at most {} (found {} and {})", most_rollout_tokens,
         e.query, e.key);
}

WholeMap rollout_map(const Trace& trace, const std::vector<std::string>& groups, std::int64_t batch,
                     const CallOnHead& call, const Execution& execution) {
  check_rollout(trace.extents());
  Rollout rollout(static_cast<std::size_t>(trace.extents().query));
  WholeMap map;
  double begin = 0;
  for (const std::string& group : groups) {
    const double end = begin + 1 / static_cast<double>(groups.size());
    const auto other = group == trace.group ? nullptr : layer_of(trace, group, execution);
    map = joined_map(other ? *other : trace, batch, call, true, Map2d::weights, execution);
    rollout.add_layer(map.values, stage(execution, begin, end));
    begin = end;
  }
  map.values = rollout.matrix();
  map.masked.clear();
  return map;
}

}  // namespace conelab
