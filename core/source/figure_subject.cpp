#include "core/source/figure_subject.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/call/call.h"
#include "core/call/plan.h"
#include "core/dataset/hierarchy.h"
#include "core/files/read_tensors.h"
#include "core/files/result_kind.h"
#include "core/job/call_json.h"
#include "core/operators/operator.h"
#include "core/trace/joined_source.h"
#include "core/trace/layers.h"
#include "core/tree/head_scores.h"

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

void note_layer(const FigureRequest& request, const Trace& layer) {
  const std::pair read(layer.file, layer.sha256);
  if (request.layers_read == nullptr || layer.sha256.empty()) return;
  if (std::ranges::find(*request.layers_read, read) != request.layers_read->end()) return;
  request.layers_read->push_back(read);
}

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
                         subject.request->context.execution());
  }
  const Execution execution = subject.request->context.execution();
  const Call call = call_from_text(similarity);
  const auto own = with_file_tensors(*subject.trace, call);
  const Trace& trace = *own;
  const auto on_head = [&](const Trace& layer, std::int64_t head) {
    if (head == 0 && &layer != &trace) note_layer(*subject.request, layer);
    return given_call_on_head(call, layer, head);
  };
  WholeMap map = rollout ? rollout_map(trace, layers_of(subject), subject.batch, on_head, execution)
                         : joined_map(trace, subject.batch, on_head, subject.join == "mean",
                                      quantity, execution);
  // Without the numbers of one head.
  const std::string title = trace.stored ? trace.stored->title : call_title(call);
  return panel_of(trace, subject.batch, std::move(map), title);
}

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
                           const Execution& execution) {
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

namespace {

/// Returns what heads that were trained on a hierarchy should see: each node's ancestors and
/// itself, alike.
HeatmapPanel ancestor_panel(const Subject& subject) {
  const Trace& trace = *subject.trace;
  if (trace.edges.empty()) misuse("-p ancestors=yes: {} has no hierarchy", trace.spec());
  WholeMap map;
  const std::int64_t n = map.rows = map.columns = trace.extents().key;
  map.values.assign(static_cast<std::size_t>(n * n), 0);
  const NodeLists above = ancestors_of(
      make_hierarchy(trace.edges, std::vector<std::string>(static_cast<std::size_t>(n))));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& own = above[static_cast<std::size_t>(i)];
    const double share = 1 / static_cast<double>(own.size() + 1);
    map.values[static_cast<std::size_t>(i * n + i)] = share;
    for (const Node a : own) map.values[static_cast<std::size_t>(i * n + a)] = share;
  }
  return panel_of(trace, subject.batch, std::move(map), "ancestors");
}

/// Adds to a title that several panels have the layer and the heads of its own, and its file where
/// the files differ; `of` holds what each panel shows.
void tell_apart(std::vector<HeatmapPanel>& panels, const std::vector<Subject>& of) {
  const auto differ = [&](auto part) {
    return std::ranges::any_of(
        of, [&](const Subject& one) { return part(*one.trace) != part(*of.front().trace); });
  };
  const bool files = differ([](const Trace& trace) { return trace.file; });
  const bool whole = differ([](const Trace& trace) { return folder_of(trace.group); });
  std::map<std::string, int> count;
  for (const HeatmapPanel& panel : panels) ++count[panel.title];
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (count[panels[i].title] == 1) continue;
    const Trace& trace = *of[i].trace;
    panels[i].title += ", " + (files ? file_name_of(trace.file) + ": " : "") +
                       subject_name(trace.group, of[i].head, of[i].join, whole);
  }
}

void add_traces(const FigureRequest& request, Map2d quantity, figure::FigureInput& input) {
  const bool several = request.inputs.size() > 1;
  std::vector<Subject> shown;  // [panel]
  for (const std::string& spec : request.inputs) {
    const Subject one = read_subject(request, spec, "");
    if (&spec == &request.inputs.front() && request.value("ancestors") == "yes") {
      input.panels.push_back(ancestor_panel(one));
      input.names.emplace_back("ancestors");
    }
    for (HeatmapPanel& panel : maps_of(request, one, quantity)) {
      input.panels.push_back(std::move(panel));
    }
    for (const std::string& name : names_of(request, *one.trace)) input.names.push_back(name);
    shown.resize(input.panels.size(), one);
    const std::string text = caption_of(request, one);
    input.caption += (input.caption.empty() ? "" : "; ") + text;
    if (several && one.trace->stored) {
      misuse("{}: holds attention weights; several inputs are traces with q and k", spec);
    }
  }
  tell_apart(input.panels, shown);
}

}  // namespace

void read_trace_maps(const FigureRequest& request, Map2d quantity, figure::FigureInput& input) {
  if (!request.value("beside").empty() && request.value("ancestors") == "yes") {
    misuse("-p ancestors=yes has no effect with beside");
  }
  if (request.value("beside").empty() &&
      (request.inputs.size() > 1 || request.value("ancestors") == "yes")) {
    add_traces(request, quantity, input);
    input.caption += excluded_note(request);
    return;
  }
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

namespace {

/// A figure's map is held in memory. Larger maps can be written by `attend --keep weights`.
constexpr std::int64_t most_cells = std::int64_t{1} << 27;

/// Returns the names of q, k and v that the key `<prefix>arrays` gives, otherwise those of
/// `arrays`; empty if neither is given, or for q,k,v, the names of which k and v may be missing.
/// The key `weights_array` names weights of the input itself. They are read as the request says.
ArrayNames array_names(const FigureRequest& request, const std::string& prefix) {
  const std::string key = request.value(prefix + "arrays").empty() ? "arrays" : prefix + "arrays";
  const std::string typed = request.value(key);
  const std::string weights = prefix.empty() ? request.value("weights_array") : "";
  const ArrayNames standard{"", "", "", request.reading, weights};
  if (typed.empty() || !weights.empty()) return standard;
  std::vector<std::string> names = split_list(typed, "-p " + key);
  if (names.size() != 3) {
    misuse("-p {}={}: expected the names of q, k and v, separated by commas", key, typed);
  }
  if (names == std::vector<std::string>{"q", "k", "v"}) return standard;
  return {names[0], names[1], names[2], request.reading};
}

}  // namespace

std::string operators_of(const FigureRequest& request, const std::string& key, const Trace& trace) {
  const std::optional<Call>& own = trace.own_call;
  if (!own) return request.value(key);
  if (!request.parameters.contains(key)) return call_text(*own);
  std::vector<std::string> calls;
  for (const std::string& name : split_names(request.value(key))) {
    const Call typed = call_from_text(name), call = with_own(own, typed);
    const std::string remark = left_out_remark(own, typed, trace.tensors.contains("sinks"));
    if (!remark.empty()) request.context.say("{}", remark);
    if (call != typed) {
      request.context.say("the input was made for {}: {} takes what is not given from it",
                          call_title(*own), typed.similarity);
    }
    calls.push_back(call == typed ? name : call_text(call));
  }
  return join(calls, ",");
}

std::string source_caption(const std::string& model, const std::string& group) {
  std::string caption = model.substr(0, model.find(" ("));
  if (!group.empty())
    caption += (caption.empty() ? "" : ", ") + group.substr(group.starts_with('/') ? 1 : 0);
  return caption;
}

std::string file_title(const std::string& path) {
  const std::string stem = std::filesystem::path(path).stem().string();
  constexpr std::size_t digits_of_digest = 64;
  const bool is_digest = stem.size() == digits_of_digest &&
                         stem.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_digest ? "" : stem;
}

std::string head_caption(const std::string& source, std::int64_t batches,
                         const FigureRequest& request) {
  std::string caption = source;
  if (caption.empty() && request.inputs.size() == 1) {
    caption = file_title(request.inputs.front());
  }
  if (!caption.empty()) caption += ", ";
  if (batches > 1) caption += fmt::format("batch {}, ", request.index("batch"));
  return caption + fmt::format("head {}", request.index("head"));
}

void check_index(const char* axis, std::size_t index, std::int64_t size) {
  if (static_cast<std::int64_t>(index) >= size) {
    misuse("-p {}={}: there is none (the input has {}, counted from 0)", axis, index, size);
  }
}

std::int64_t index_below(const FigureRequest& request, const std::string& key, const char* axis,
                         std::int64_t size) {
  const std::size_t index = request.index(key);
  check_index(axis, index, size);
  return static_cast<std::int64_t>(index);
}

std::vector<std::string> layer_groups(const FigureRequest& request, const std::string& file,
                                      const std::string& prefix) {
  return groups_to_open(file, array_names(request, prefix), request.context.cancelled, false);
}

std::shared_ptr<const Trace> read_trace_layer(const FigureRequest& request, const std::string& spec,
                                              const std::string& prefix, bool of_pairs) {
  const InputSpec parsed = parse_input_spec(spec);
  auto trace = load_trace(parsed.path, parsed.group, request.context.cancelled,
                          array_names(request, prefix));
  note_layer(request, *trace);
  if (!trace->remark.empty()) request.context.say("{}", trace->remark);
  const Extents e = trace->extents();
  if (of_pairs && e.query * e.key > most_cells) {
    misuse("{}: {} x {} is too large for a figure of the whole map", spec, e.query, e.key);
  }
  return trace;
}

namespace {

/// Returns the call that the attributes describe, or nothing if they cannot be read: a file may
/// contain any text.
std::optional<Call> call_of(const Attributes& attributes) {
  try {
    const std::string typed = attribute_or_empty(attributes, "call");
    if (!typed.empty()) return call_from_text(typed);
    const std::string text = attribute_or_empty(attributes, "spec");
    const auto spec = nlohmann::ordered_json::parse(text, nullptr, false);
    if (!spec.is_object() || !spec.contains("call")) return std::nullopt;
    Call call = call_from_json(spec.at("call"));
    call.parameters.clear();
    call.map.clear();
    return call;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string kind_of_input(const FigureRequest& request, const std::string& input) {
  const InputSpec spec = parse_input_spec(input);
  if (!spec.group.empty()) return "";
  return result_kind(spec.path, {.cancelled = request.context.cancelled});
}

std::string result_title(const Attributes& attributes, std::size_t head) {
  const std::optional<Call> call = call_of(attributes);
  return call ? call_title(with_numbers_of_head(*call, static_cast<std::int64_t>(head))) : "";
}

std::string result_similarity(const Attributes& attributes) {
  const std::optional<Call> call = call_of(attributes);
  return call ? operator_name(*call) : "";
}

std::string result_source(const Attributes& attributes, const std::string& model) {
  const std::string input = input_of_spec(attribute_or_empty(attributes, "spec"));
  return source_caption(model, input.empty() ? "" : parse_input_spec(input).group);
}

void refuse_trace_keys(const FigureRequest& request, const std::string& path,
                       const std::string& holds, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto given = request.parameters.find(key);
    if (given == request.parameters.end()) continue;
    misuse("-p {}={}: has no effect: {} holds {}, computed already (expected a trace with q, k, v)",
           key, given->second, path, holds);
  }
}

}  // namespace conelab
