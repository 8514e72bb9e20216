// Reads attention maps of one head, from a trace (q, k, v) or from results of `attend`.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/call/call.h"
#include "core/figure/heads.h"
#include "core/files/sandbox.h"
#include "core/job/call_json.h"
#include "core/operators/operator.h"
#include "core/source/figure_request.h"
#include "core/source/figure_subject.h"
#include "core/trace/layers.h"
#include "core/tree/head_scores.h"

namespace conelab {
namespace {

using figure::HeatmapPanel;

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// ---- from results of `attend` -------------------------------------------------------------------

struct ResultMap {
  std::shared_ptr<const Trace> map;
  std::string title, source;  ///< Empty if the file does not say it.
};

std::optional<ResultMap> read_result_map(const std::string& path, Map2d quantity,
                                         const FigureRequest& request) {
  if (kind_of_input(request, path) != "attend") return std::nullopt;
  const SandboxLimits limits{.cancelled = request.context.cancelled};
  const auto map =
      load_trace(path, quantity == Map2d::weights ? "/attention/weights" : "/attention/logits",
                 limits.cancelled);
  const auto entry = find_labelled_sandboxed(path, "attention", limits).value_or(LabelledArray());
  const auto environment = find_labelled_sandboxed(path, "attention/environment", limits);
  const auto* model = environment ? environment->data<std::string>("input_model") : nullptr;
  return ResultMap{map, result_title(entry.attributes, request.index("head")),
                   result_source(entry.attributes, model && !model->empty() ? model->front() : "")};
}

HeatmapPanel panel_of(const ResultMap& result, Map2d quantity, const FigureRequest& request) {
  const Extents e = result.map->extents();
  const std::int64_t batch = index_below(request, "batch", "batch", e.batch);
  const std::int64_t head = index_below(request, "head", "head", e.head);
  HeatmapPanel panel = panel_of_head(*result.map, batch, head, "dot", quantity, {});
  panel.title = result.title.empty() ? stem_of(result.map->file) : result.title;
  return panel;
}

/// Replaces a title that several panels have by the names of their files.
void name_alike_by_file(std::vector<HeatmapPanel>& panels, const std::vector<std::string>& inputs) {
  std::map<std::string, int> count;
  for (const HeatmapPanel& panel : panels) ++count[panel.title];
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (count[panels[i].title] > 1) panels[i].title = stem_of(inputs[i]);
  }
}

/// Reads results of `attend`. Returns whether the inputs are such results.
bool read_results(const FigureRequest& request, Map2d quantity, figure::FigureInput& maps) {
  std::set<std::string> sources;
  std::int64_t batches = 1;
  for (const std::string& path : request.inputs) {
    const auto result = read_result_map(path, quantity, request);
    if (!result && maps.panels.empty()) return false;
    if (!result) {
      fail("{}: is not a result of attend (expected one, as {} is)", path, request.inputs[0]);
    }
    refuse_trace_keys(request, path,
                      result->title.empty() ? "a map" : "the map of " + result->title,
                      {"similarities", "arrays", "join", "beside", "beside_arrays", "beside_head",
                       "beside_join", "special", "ancestors"});
    maps.panels.push_back(panel_of(*result, quantity, request));
    sources.insert(result->source);
    batches = std::max(batches, result->map->extents().batch);
  }
  name_alike_by_file(maps.panels, request.inputs);
  maps.caption = head_caption(sources.size() == 1 ? *sources.begin() : "", batches, request);
  return true;
}

}  // namespace

void read_maps(const FigureRequest& request, figure::FigureInput& input) {
  const Map2d quantity = request.value("quantity") == "logits" ? Map2d::logits : Map2d::weights;
  if (!read_results(request, quantity, input)) read_trace_maps(request, quantity, input);
  if (input.panels.size() != request.inputs.size()) return;
  input.names.clear();
  for (const std::string& path : request.inputs) {
    const std::string group = parse_input_spec(path).group;
    const std::size_t slash = group.starts_with('/') ? 1 : 0;
    input.names.push_back(group.empty() ? stem_of(path) : group.substr(slash));
  }
}

// Reads the attention of all heads of the layers of a trace.

namespace {

using figure::HeatmapPanel;

struct HeadRow {
  std::string group, similarity, title;
};

std::string title_of(const std::string& similarity, const std::string& reference) {
  const std::string title = call_title(call_from_text(similarity));
  if (reference.empty() || reference == similarity) return title;
  return title + " − " + call_title(call_from_text(reference));
}

std::vector<HeadRow> rows_of(const FigureRequest& request, const InputSpec& spec) {
  const std::vector<std::string> names =
      split_list(request.value("similarities"), "-p similarities");
  const std::string choice = request.value("rows");
  std::vector<HeadRow> rows;
  if (choice == "operators") {
    for (const std::string& name : names) {
      rows.push_back({spec.group, name, title_of(name, request.value("difference"))});
    }
    return rows;
  }
  if (names.size() != 1) {
    misuse("figure heads shows one operator (found {}), or -p rows=operators", names.size());
  }
  std::vector<std::string> groups = layer_groups(request, spec.path);
  if (choice == "layers") groups = layers_beside(groups, spec.group);
  if (groups.empty()) groups = {spec.group};  // Reading it says what is wrong.
  for (const std::string& group : groups) {
    const bool whole = choice == "file" && !group.empty();
    rows.push_back({group, names.front(), whole ? group.substr(1) : layer_name(group)});
  }
  std::vector<std::string> titles;
  for (const HeadRow& row : rows) titles.push_back(row.title);
  titles = short_names(titles);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].title = titles[i];
  return rows;
}

struct LayerHead {
  const Trace& trace;
  std::int64_t batch, head;
};

tree::HeadScores scores_of(const LayerHead& of, const std::string& similarity,
                           const HeatmapPanel& weights) {
  const auto trace = with_file_tensors(of.trace, call_from_text(similarity));
  const Call call = given_call_on_head(call_from_text(similarity), *trace, of.head);
  const auto input = head_input(*trace, of.batch, of.head);
  tree::HeadScorer scorer(
      weights.rows, weights.cols, tree::special_tokens(trace->key_tokens(of.batch), weights.cols),
      trace->stored ? std::vector<std::uint8_t>() : tree::key_ancestors(call, input->exact));
  std::vector<float> cells(weights.values.begin(), weights.values.end());
  for (std::size_t i = 0; i < weights.masked.size(); ++i) {
    if (weights.masked[i] != 0) cells[i] = -HUGE_VALF;
  }
  scorer.add_rows(cells.data(), weights.rows);
  return scorer.scores();
}

figure::HeadPanel head_panel(const FigureRequest& request, const LayerHead& of,
                             const HeadRow& row) {
  const bool logits = request.value("quantity") == "logits";
  const std::string reference = request.value("difference");
  const auto map_under = [&](const std::string& similarity, Map2d quantity) {
    return panel_of_head(of.trace, of.batch, of.head, similarity, quantity,
                         request.context.execution());
  };
  HeatmapPanel weights = map_under(row.similarity, Map2d::weights);
  exclude_special_tokens(request, weights);
  HeatmapPanel map = logits ? map_under(row.similarity, Map2d::logits) : weights;
  if (!reference.empty() && reference != row.similarity) {
    figure::subtract(map, map_under(reference, logits ? Map2d::logits : Map2d::weights));
  }
  exclude_special_tokens(request, map);
  if (!logits) figure::mark_signed(map);
  figure::HeadPanel panel;
  panel.head = static_cast<std::size_t>(of.head);
  panel.map = figure::small_map(map, figure::heat_scale_from_name(request.value("scale")));
  panel.scores = scores_of(of, row.similarity, weights);
  return panel;
}

/// Returns "MiniLM, german, dot": the model, what the layers have in common, and the operator.
std::string caption_of(const FigureRequest& request, const Trace& trace,
                       const std::vector<HeadRow>& rows) {
  const std::string choice = request.value("rows"), group = trace.group;
  std::string caption = source_caption(trace.model, group);
  if (choice != "operators") {
    const std::string own = source_caption("", group);
    if (caption.ends_with(own)) caption.resize(caption.size() - own.size());
    const std::size_t end = own.rfind('/');
    if (choice == "layers" && end != std::string::npos) caption += own.substr(0, end) + ", ";
    caption += trace.stored ? trace.stored->title
                            : title_of(rows.front().similarity, request.value("difference"));
  }
  if (trace.extents().batch > 1) caption += fmt::format(", batch {}", request.index("batch"));
  return caption + excluded_note(request);
}

}  // namespace

void read_heads(const FigureRequest& request, figure::FigureInput& input) {
  const InputSpec spec = parse_input_spec(request.single_input());
  std::vector<HeadRow> rows = rows_of(request, spec);
  std::shared_ptr<const Trace> trace;
  for (HeadRow& row : rows) {
    if (!trace || trace->group != row.group) {
      trace =
          read_trace_layer(request, row.group.empty() ? spec.path : spec.path + ":" + row.group);
    }
    if (trace->stored) {
      refuse_trace_keys(request, spec.path, "attention weights", {"similarities", "difference"});
    }
    if (request.value("rows") != "operators") {
      row.similarity = operators_of(request, "similarities", *trace);
    }
    const Extents e = trace->extents();
    const std::int64_t batch = index_below(request, "batch", "batch", e.batch);
    for (std::int64_t head = 0; head < e.head; ++head) {
      figure::HeadPanel panel = head_panel(request, {*trace, batch, head}, row);
      panel.row = input.head_rows.size();
      input.heads.push_back(std::move(panel));
    }
    input.head_rows.push_back(row.title);
  }
  input.caption = caption_of(request, *trace, rows);
}

}  // namespace conelab
