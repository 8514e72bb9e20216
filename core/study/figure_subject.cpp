#include "core/study/figure_subject.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/call/call_text.h"
#include "core/call/plan.h"
#include "core/study/call_json.h"
#include "core/study/figure_result.h"
#include "core/trace/layers.h"
#include "core/trace/whole_map.h"
#include "core/tree/score_input.h"

namespace conelab {
namespace {

using figure::HeatmapPanel;

/// What is drawn of a layer, as the request's keys say.
struct Subject {
  const FigureRequest* request = nullptr;
  std::string prefix;  ///< Of its keys: empty, or "beside_".
  std::shared_ptr<const Trace> trace;
  std::int64_t batch = 0, head = 0;
  std::string join;  ///< "one", "mean", "maximum" or "rollout".
};

/// Returns the layers of the subject's text up to its own.
std::vector<std::string> layers_of(const Subject& subject) {
  const Trace& trace = *subject.trace;
  if (trace.group.empty()) return {""};
  const auto groups = layer_groups(*subject.request, trace.file, subject.prefix);
  return layers_up_to(layers_beside(groups, trace.group), trace.group);
}

HeatmapPanel panel_of(const Trace& trace, std::int64_t batch, WholeMap map, std::string title) {
  HeatmapPanel panel;
  panel.title = std::move(title);
  panel.rows = static_cast<std::size_t>(map.rows);
  panel.cols = static_cast<std::size_t>(map.columns);
  panel.values = std::move(map.values);
  panel.masked = std::move(map.masked);
  panel.row_tokens = trace.query_tokens(batch);
  panel.column_tokens = trace.key_tokens(batch);
  return panel;
}

HeatmapPanel map_of(const Subject& subject, const std::string& similarity, Map2d quantity) {
  const bool rollout = subject.join == "rollout";
  if (rollout && quantity != Map2d::weights) {
    misuse("rollout is defined for weights, not for logits");
  }
  if (subject.join == "one") {
    const Trace& trace = *subject.trace;
    return panel_of_head(trace, subject.batch, subject.head, similarity, quantity,
                         subject.request->context.cancelled);
  }
  Execution execution;
  execution.cancelled = subject.request->context.cancelled;
  const Call call = call_from_text(similarity);
  const auto own = with_file_tensors(*subject.trace, call);
  const Trace& trace = *own;
  const auto on_head = [&](const Trace& layer, std::int64_t head) {
    return given_call_on_head(call, layer, head);
  };
  WholeMap map = rollout ? rollout_map(trace, layers_of(subject), subject.batch, on_head, execution)
                         : joined_map(trace, subject.batch, on_head, subject.join == "mean",
                                      quantity, execution);
  // Without the numbers of one head.
  const std::string title = trace.stored ? trace.stored->title : call_title(call);
  return panel_of(trace, subject.batch, std::move(map), title);
}

/// Returns the subject that the keys `<prefix>head` and `<prefix>join` choose of an input.
Subject read_subject(const FigureRequest& request, const std::string& spec,
                     const std::string& prefix) {
  auto trace = read_trace_layer(request, spec, prefix);
  const Extents e = trace->extents();
  Subject subject{&request,
                  prefix,
                  trace,
                  index_below(request, "batch", "batch", e.batch),
                  static_cast<std::int64_t>(request.index(prefix + "head")),
                  request.value(prefix + "join")};
  if (subject.join.empty()) subject.join = "one";  // The figure has no such key.
  if (subject.join == "one") check_index("head", request.index(prefix + "head"), e.head);
  return subject;
}

/// Returns the operators of the panels.
std::vector<std::string> names_of(const FigureRequest& request, const Trace& trace) {
  return split_list(operators_of(request, "similarities", trace), "-p similarities");
}

std::vector<HeatmapPanel> maps_of(const FigureRequest& request, const Subject& subject,
                                  Map2d quantity) {
  std::vector<HeatmapPanel> maps;
  for (const std::string& name : names_of(request, *subject.trace)) {
    maps.push_back(map_of(subject, name, quantity));
    exclude_special_tokens(request, maps.back());
    if (subject.trace->stored) break;  // Operators do not act on it.
  }
  return maps;
}

/// Returns as many maps as there are `count`: a single one, which is stored, for each of the
/// others.
std::vector<HeatmapPanel> repeated(std::vector<HeatmapPanel> maps, std::size_t count) {
  while (maps.size() < count) maps.push_back(maps.back());
  return maps;
}

/// Returns "MiniLM, german/layer3, head 5", or "…, mean of 12 heads".
std::string caption_of(const FigureRequest& request, const Subject& subject) {
  if (subject.join == "one") {
    FigureRequest one = request;
    one.parameters["head"] = std::to_string(subject.head);
    return head_caption(source_caption(subject.trace->model, subject.trace->group),
                        subject.trace->extents().batch, one);
  }
  std::string caption = source_caption(subject.trace->model, subject.trace->group);
  if (!caption.empty()) caption += ", ";
  if (subject.join == "rollout") return caption + "attention rollout up to this layer";
  return caption + fmt::format("{} of {} heads", subject.join, subject.trace->extents().head);
}

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
std::string folder_of(const std::string& group) { return group.substr(0, group.rfind('/')); }

}  // namespace

HeatmapPanel panel_of_head(const Trace& given, std::int64_t batch, std::int64_t head,
                           const std::string& similarity, Map2d quantity,
                           const std::function<bool()>& cancelled) {
  Execution execution;
  execution.cancelled = cancelled;
  const Call call = call_from_text(similarity);
  const auto own = with_file_tensors(given, call);
  const Trace& trace = *own;
  WholeMap map =
      map_of_head(trace, batch, head, given_call_on_head(call, trace, head), quantity, execution);
  const std::string title =
      trace.stored ? trace.stored->title
                   : call_title(with_numbers_of_head(call, makes_heads(call) ? 0 : head)) +
                         made_head_text(map.heads);
  return panel_of(trace, batch, std::move(map), title);
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
  input.names = names_of(request, *open.trace);
  input.caption = caption_of(request, open) + excluded_note(request);
  const std::string beside = request.value("beside");
  const bool compares = !beside.empty();
  if (open.trace->stored) {
    input.names = {std::filesystem::path(open.trace->file).stem().string()};
    if (!compares)
      refuse_trace_keys(request, open.trace->file, "attention weights", {"similarities"});
  }
  if (!compares && open.join == "one") return;
  const Subject other = compares ? read_subject(request, beside, "beside_") : Subject();
  const bool whole = compares && folder_of(open.trace->group) != folder_of(other.trace->group);
  input.subject = subject_name(open.trace->group, open.head, open.join, whole);
  if (!compares) return;
  input.beside = maps_of(request, other, quantity);
  const std::size_t panels = std::max(input.panels.size(), input.beside.size());
  input.panels = repeated(std::move(input.panels), panels);
  input.beside = repeated(std::move(input.beside), panels);
  input.names.resize(panels, input.names.front());
  const bool other_file = other.trace->file != open.trace->file;
  const std::string file = other_file ? file_name_of(other.trace->file) + ": " : "";
  input.caption += ", beside " + file + caption_of(request, other);
  input.beside_subject = file + subject_name(other.trace->group, other.head, other.join, whole);
}

}  // namespace conelab
