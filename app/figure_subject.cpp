#include "app/figure_subject.h"

#include <cmath>

#include "app/figure_result.h"
#include "core/base/error.h"
#include "core/call/call_text.h"
#include "core/call/plan.h"
#include "core/files/layers.h"
#include "core/statistics/head_join.h"
#include "core/statistics/rollout.h"
#include "core/study/call_json.h"
#include "core/tree/score_input.h"

namespace conelab {
namespace {

using figure::HeatmapPanel;

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

/// What is drawn of a layer, as the request's keys say.
struct Subject {
  const FigureRequest* request = nullptr;
  std::string prefix;  ///< Of its keys: empty, or "beside_".
  TraceLayer layer;
  std::size_t batch = 0, head = 0;
  std::string join;  ///< "one", "mean", "maximum" or "rollout".
};

/// Returns the mean or the maximum of all heads of a layer.
HeatmapPanel joined(const Subject& subject, const TraceLayer& layer, bool mean,
                    const std::string& similarity, Map2d quantity) {
  HeatmapPanel all;
  std::optional<HeadJoin<double>> join;
  for (std::int64_t head = 0; head < layer.extents.head; ++head) {
    HeatmapPanel one =
        map_of_head(head_of_layer(layer, subject.batch, static_cast<std::size_t>(head)), similarity,
                    quantity, subject.request->cancelled);
    for (std::size_t i = 0; i < one.masked.size(); ++i) {
      if (one.masked[i] != 0) one.values[i] = -HUGE_VAL;
    }
    if (!join) {
      join.emplace(one.values.size(), mean, quantity == Map2d::weights);
      all = one;
      all.title = call_title(call_from_text(similarity));  // Without the numbers of one head.
    }
    if (one.values.size() != all.values.size()) {
      misuse("{}: the maps of the heads differ in size and cannot be joined", similarity);
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

/// Returns the layers of the subject's text up to its own.
std::vector<std::string> layers_of(const Subject& subject) {
  const TraceLayer& layer = subject.layer;
  if (layer.group.empty()) return {""};
  const auto groups = layer_groups(*subject.request, layer.file, subject.prefix);
  return layers_up_to(layers_beside(groups, layer.group), layer.group);
}

HeatmapPanel rollout_of(const Subject& subject, const std::string& similarity) {
  const Extents& e = subject.layer.extents;
  if (e.query != e.key || e.query > most_rollout_tokens) {
    misuse("rollout needs as many queries as keys, at most {} (found {} and {})",
           most_rollout_tokens, e.query, e.key);
  }
  Execution execution;
  execution.cancelled = subject.request->cancelled;
  Rollout rollout(static_cast<std::size_t>(e.query));
  HeatmapPanel panel;
  for (const std::string& group : layers_of(subject)) {
    const bool own = group == subject.layer.group;
    const TraceLayer other =
        own ? TraceLayer()
            : read_trace_layer(*subject.request, subject.layer.file + ":" + group, subject.prefix);
    const TraceLayer& layer = own ? subject.layer : other;
    if (layer.extents.query != e.query || layer.extents.key != e.key) {
      fail("rollout: {} has {} queries and {} keys, {} has {}", layer_name(group),
           layer.extents.query, layer.extents.key, layer_name(subject.layer.group), e.query);
    }
    panel = joined(subject, layer, true, similarity, Map2d::weights);
    rollout.add_layer(panel.values, execution);
  }
  panel.values = rollout.matrix();
  panel.masked.clear();
  return panel;
}

HeatmapPanel map_of(const Subject& subject, const std::string& similarity, Map2d quantity) {
  if (subject.join == "rollout" && quantity != Map2d::weights) {
    misuse("rollout is defined for weights, not for logits");
  }
  if (subject.join == "rollout") return rollout_of(subject, similarity);
  if (subject.join != "one") {
    return joined(subject, subject.layer, subject.join == "mean", similarity, quantity);
  }
  return map_of_head(head_of_layer(subject.layer, subject.batch, subject.head), similarity,
                     quantity, subject.request->cancelled);
}

/// Returns the subject that the keys `<prefix>head` and `<prefix>join` choose of an input.
Subject read_subject(const FigureRequest& request, const std::string& spec,
                     const std::string& prefix) {
  Subject subject{&request,
                  prefix,
                  read_trace_layer(request, spec, prefix),
                  request.index("batch"),
                  request.index(prefix + "head"),
                  request.value(prefix + "join")};
  if (subject.join.empty()) subject.join = "one";  // The figure has no such key.
  return subject;
}

std::vector<HeatmapPanel> maps_of(const FigureRequest& request, const Subject& subject,
                                  Map2d quantity) {
  std::vector<HeatmapPanel> maps;
  for (const std::string& name : split_list(request.value("similarities"), "-p similarities")) {
    maps.push_back(map_of(subject, name, quantity));
    exclude_special_tokens(request, maps.back());
  }
  return maps;
}

/// Returns "MiniLM, german/layer3, head 5", or "…, mean of 12 heads".
std::string caption_of(const FigureRequest& request, const Subject& subject) {
  if (subject.join == "one") {
    FigureRequest one = request;
    one.parameters["head"] = std::to_string(subject.head);
    return head_caption(subject.layer.source, subject.layer.extents.batch, one);
  }
  std::string caption = subject.layer.source;
  if (!caption.empty()) caption += ", ";
  if (subject.join == "rollout") return caption + "attention rollout up to this layer";
  return caption + fmt::format("{} of {} heads", subject.join, subject.layer.extents.head);
}

/// Returns the title of a head's map, with the head that the operator made where it makes several.
std::string title_on(const TraceHead& trace, const Call& call, const Plan& plan) {
  const std::int64_t head = makes_heads(call) ? 0 : trace.head;
  return call_title(with_numbers_of_head(call, head)) + made_head_text(plan.extents.head);
}

/// Returns the map of the first head: an operator may have made several of the input's one.
std::vector<double> map_of_first_head(const PairCall<double>& pairs, Map2d quantity,
                                      const Execution& execution) {
  const Extents& e = pairs.plan->extents;
  check_input(*pairs.plan, pairs.input);
  std::vector<double> map(static_cast<std::size_t>(e.query * e.key));
  Forward<double> saved;
  if (quantity == Map2d::weights) saved = forward(*pairs.plan, pairs.input, execution);
  PairMap<double>(*pairs.plan, pairs.input)
      .tile(quantity, &saved, {0, 0, 0, e.query, 0, e.key}, map.data(), execution);
  return map;
}

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string folder_of(const std::string& group) { return group.substr(0, group.rfind('/')); }

}  // namespace

HeatmapPanel map_of_head(const TraceHead& trace, const std::string& similarity, Map2d quantity,
                         const std::function<bool()>& cancelled) {
  Execution execution;
  execution.cancelled = cancelled;
  const PairCall<double> pairs = pair_call(call_on(trace, similarity), trace.input);
  const Extents& extents = pairs.plan->extents;
  HeatmapPanel panel;
  panel.title = title_on(trace, call_from_text(similarity), *pairs.plan);
  panel.rows = static_cast<std::size_t>(extents.query);
  panel.cols = static_cast<std::size_t>(extents.key);
  panel.values = map_of_first_head(pairs, quantity, execution);
  panel.masked = masked_pairs(*pairs.plan, pairs.input);
  panel.row_tokens = trace.query_token;
  panel.column_tokens = trace.key_token;
  return panel;
}

void exclude_special_tokens(const FigureRequest& request, HeatmapPanel& map) {
  if (request.value("special") != "excluded") return;
  map.masked.resize(map.values.size());
  const auto special = [](const std::vector<std::string>& tokens, std::size_t i) {
    return i < tokens.size() && tree::is_special_token(tokens[i]);
  };
  for (std::size_t row = 0; row < map.rows; ++row) {
    for (std::size_t column = 0; column < map.cols; ++column) {
      if (special(map.row_tokens, row) || special(map.column_tokens, column)) {
        map.masked[row * map.cols + column] = 1;
      }
    }
  }
}

std::string excluded_note(const FigureRequest& request) {
  return request.value("special") == "excluded" ? ", without special tokens" : "";
}

void read_trace_maps(const FigureRequest& request, Map2d quantity, figure::FigureInput& input) {
  const Subject open = read_subject(request, request.single_input(), "");
  input.panels = maps_of(request, open, quantity);
  input.names = split_list(request.value("similarities"), "-p similarities");
  input.caption = caption_of(request, open) + excluded_note(request);
  const std::string beside = request.value("beside");
  const bool compares = !beside.empty();
  if (!compares && open.join == "one") return;
  const Subject other = compares ? read_subject(request, beside, "beside_") : Subject();
  const bool whole = compares && folder_of(open.layer.group) != folder_of(other.layer.group);
  input.subject =
      subject_name(open.layer.group, static_cast<std::int64_t>(open.head), open.join, whole);
  if (!compares) return;
  input.beside = maps_of(request, other, quantity);
  const bool other_file = other.layer.file != open.layer.file;
  const std::string file = other_file ? file_name_of(other.layer.file) + ": " : "";
  input.caption += ", beside " + file + caption_of(request, other);
  input.beside_subject =
      file +
      subject_name(other.layer.group, static_cast<std::int64_t>(other.head), other.join, whole);
}

}  // namespace conelab
