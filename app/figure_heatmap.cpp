// Figure `heatmap` from a trace (q, k, v) or from results of `attend`.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "app/attend_input.h"
#include "app/call_json.h"
#include "app/figure_request.h"
#include "app/interrupt.h"
#include "app/labelled_view.h"
#include "core/attention/attention.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/files/sandbox.h"

namespace conelab {
namespace {

using figure::HeatmapPanel;

/// What is drawn is held in memory; larger maps are the work of `attend --keep weights`.
constexpr std::int64_t most_cells = std::int64_t{1} << 27;

Map2d quantity_of(const FigureRequest& request) {
  const std::string name = request.value("quantity");
  if (name == "weights") return Map2d::weights;
  if (name == "logits") return Map2d::logits;
  unknown_name("quantity", name, {"weights", "logits"});
}

void check_index(const char* axis, std::size_t index, std::int64_t size) {
  if (static_cast<std::int64_t>(index) >= size) {
    misuse("-p {}={}: there is none (the input has {}, counted from 0)", axis, index, size);
  }
}

// ---- from a trace -------------------------------------------------------------------------------

/// One head of a tensor, [1 × 1 × token × feature].
Tensor4<double> one_head(const Tensor4<double>& all, std::size_t batch, std::size_t head) {
  Tensor4<double> one({1, 1, all.shape.token, all.shape.feature});
  const double* begin =
      all.row(static_cast<std::int64_t>(batch), static_cast<std::int64_t>(head), 0);
  std::copy_n(begin, one.data.size(), one.data.begin());
  return one;
}

/// A trace cut down to the head that is drawn.
struct TraceHead {
  AttentionInput<double> input;
  std::vector<std::string> query_token, key_token;
  std::string caption;
};

std::string trace_caption(const Input& file, const FigureRequest& request) {
  std::string caption = file.model.substr(0, file.model.find(" ("));
  if (!file.group.empty()) caption += (caption.empty() ? "" : ", ") + file.group.substr(1);
  return fmt::format("{}{}head {}", caption, caption.empty() ? "" : ", ", request.index("head"));
}

TraceHead read_trace(const FigureRequest& request) {
  AttendJob job;
  job.input = request.single_input();
  Input file = read_attend_input(job, interrupted);
  TraceHead trace;
  trace.caption = trace_caption(file, request);
  trace.query_token = file.query_token;
  trace.key_token = file.key_token;
  const AttentionInput<double> all = attention_input<double>(std::move(file), Dtype::f64);
  const Extents extents = check_extents(all);
  const std::size_t batch = request.index("batch"), head = request.index("head");
  check_index("batch", batch, extents.batch);
  check_index("head", head, extents.head);
  if (extents.query * extents.key > most_cells) {
    misuse("{}: {} x {} is too large for a figure of the whole map", job.input, extents.query,
           extents.key);
  }
  trace.input.query = one_head(all.query, batch, head);
  trace.input.key = one_head(all.key, batch, head);
  trace.input.value = one_head(all.value, batch, head);
  trace.input.allowed = all.allowed;
  return trace;
}

HeatmapPanel panel_of(const TraceHead& trace, const std::string& similarity, Map2d quantity) {
  Call call;
  call.similarity = similarity;
  if (!trace.input.allowed.empty()) call.masks = {"explicit"};
  Execution execution;
  execution.cancelled = interrupted;
  const Extents extents = check_extents(trace.input);
  const auto plan = resolve(call, extents);
  HeatmapPanel panel;
  panel.title = similarity;
  panel.rows = static_cast<std::size_t>(extents.query);
  panel.cols = static_cast<std::size_t>(extents.key);
  panel.values = attention_map(*plan, trace.input, quantity, execution).data;
  panel.row_tokens = trace.query_token;
  panel.column_tokens = trace.key_token;
  for (const std::uint8_t allowed : trace.input.allowed) panel.masked.push_back(allowed ? 0 : 1);
  return panel;
}

// ---- from results of `attend` -------------------------------------------------------------------

/// The map's group in a result of `attend`; none where the file is no such result.
std::optional<LabelledArray> read_result(const std::string& path, Map2d quantity) {
  const InputSpec spec = parse_input_spec(path);
  if (!spec.group.empty() || detect_format(spec.path) != FileFormat::hdf5) return std::nullopt;
  const std::string name = quantity == Map2d::weights ? "weights" : "logits";
  const SandboxLimits limits{.cancelled = interrupted};
  auto found = find_labelled_sandboxed(path, "attention/" + name, limits);
  if (!found && find_labelled_sandboxed(path, "attention", limits)) {
    fail("{}: holds no {} (expected a result of attend --keep {})", path, name, name);
  }
  return found;
}

std::vector<std::string> texts_of(const LabelledArray& array, const std::string& variable) {
  const LabelledVariable* found = array.variable(variable);
  const auto* texts = found ? std::get_if<std::vector<std::string>>(&found->data) : nullptr;
  return texts ? *texts : std::vector<std::string>();
}

HeatmapPanel panel_of(const LabelledArray& array, const std::string& path, Map2d quantity,
                      const FigureRequest& request) {
  const std::string variable = quantity == Map2d::weights ? "weight" : "logit";
  const std::size_t batch = request.index("batch"), head = request.index("head");
  const std::size_t heads = axis_of(array, "head", path).size();
  check_index("batch", batch, static_cast<std::int64_t>(axis_of(array, "batch", path).size()));
  check_index("head", head, static_cast<std::int64_t>(heads));
  HeatmapPanel panel;
  panel.title = std::filesystem::path(path).stem().string();
  panel.rows = axis_of(array, "query", path).size();
  panel.cols = axis_of(array, "key", path).size();
  const std::vector<double> all = numbers_of(array, variable, path);
  const auto begin =
      all.begin() + static_cast<std::ptrdiff_t>((batch * heads + head) * panel.rows * panel.cols);
  panel.values.assign(begin, begin + static_cast<std::ptrdiff_t>(panel.rows * panel.cols));
  panel.row_tokens = texts_of(array, "query_token");
  panel.column_tokens = texts_of(array, "key_token");
  for (const double value : panel.values) {
    if (quantity == Map2d::logits) panel.masked.push_back(value == -HUGE_VAL ? 1 : 0);
  }
  return panel;
}

// ---- both ---------------------------------------------------------------------------------------

/// Every panel but the reference becomes its difference to the reference, which stands first.
void subtract_reference(std::vector<HeatmapPanel>& panels, const std::string& reference) {
  const auto found = std::find_if(panels.begin(), panels.end(),
                                  [&](const HeatmapPanel& p) { return p.title == reference; });
  if (found == panels.end()) {
    std::vector<std::string> known;
    for (const HeatmapPanel& panel : panels) known.push_back(panel.title);
    unknown_name("value of -p difference", reference, known);
  }
  std::rotate(panels.begin(), found, found + 1);
  for (std::size_t p = 1; p < panels.size(); ++p) {
    if (panels[p].values.size() != panels[0].values.size()) {
      misuse("{} and {} differ in size and cannot be subtracted", panels[p].title, reference);
    }
    for (std::size_t i = 0; i < panels[p].values.size(); ++i) {
      panels[p].values[i] -= panels[0].values[i];
    }
    panels[p].title += " − " + reference;
    panels[p].diverging = true;
  }
}

}  // namespace

figure::HeatmapFigure read_heatmap(const FigureRequest& request) {
  if (request.inputs.empty()) {
    misuse("figure heatmap needs --input: {}", figure::figure_template("heatmap").input);
  }
  const Map2d quantity = quantity_of(request);
  figure::HeatmapFigure figure;
  figure.value_name = quantity == Map2d::weights ? "attention weight" : "logit";
  for (const std::string& path : request.inputs) {
    const auto result = read_result(path, quantity);
    if (!result && figure.panels.empty()) break;
    if (!result)
      fail("{}: is no result of attend (expected one, as {} is)", path, request.inputs[0]);
    figure.panels.push_back(panel_of(*result, path, quantity, request));
    figure.caption = fmt::format("head {}", request.index("head"));
  }
  if (figure.panels.empty()) {
    const TraceHead trace = read_trace(request);
    for (const std::string& name : split_list(request.value("similarities"), "-p similarities")) {
      figure.panels.push_back(panel_of(trace, name, quantity));
    }
    figure.caption = trace.caption;
  }
  const std::string reference = request.value("difference");
  if (!reference.empty()) subtract_reference(figure.panels, reference);
  return figure;
}

}  // namespace conelab
