// Reads attention maps of one head, from a trace (q, k, v) or from results of `attend`.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/call/call_text.h"
#include "core/files/sandbox.h"
#include "core/files/text.h"
#include "core/operators/operator.h"
#include "core/study/call_json.h"
#include "core/study/figure_request.h"
#include "core/study/figure_result.h"
#include "core/study/figure_subject.h"
#include "core/study/figure_trace.h"
#include "core/study/labelled_view.h"

namespace conelab {
namespace {

using figure::HeatmapPanel;

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

// ---- from results of `attend` -------------------------------------------------------------------

std::vector<std::string> texts_of(const LabelledArray& array, const std::string& variable) {
  const LabelledVariable* found = array.variable(variable);
  const auto* texts = found ? std::get_if<std::vector<std::string>>(&found->data) : nullptr;
  return texts ? *texts : std::vector<std::string>();
}

/// A map from a result of `attend`, with what it shows.
struct ResultMap {
  LabelledArray map;
  std::string title, source;  ///< Empty if the file does not say it.
};

/// Returns the map of a result of `attend`, or nothing if the file is not such a result.
std::optional<ResultMap> read_result_map(const std::string& path, Map2d quantity,
                                         const FigureRequest& request) {
  const InputSpec spec = parse_input_spec(path);
  if (!spec.group.empty() || detect_format(spec.path) != FileFormat::hdf5) return std::nullopt;
  const std::string name = quantity == Map2d::weights ? "weights" : "logits";
  const SandboxLimits limits{.cancelled = request.context.cancelled};
  const auto map = find_labelled_sandboxed(path, "attention/" + name, limits);
  const auto entry = find_labelled_sandboxed(path, "attention", limits);
  if (!map && entry) {
    fail("{}: holds no {} (expected a result of attend --keep {})", path, name, name);
  }
  if (!map || !entry) return std::nullopt;
  const auto environment = find_labelled_sandboxed(path, "attention/environment", limits);
  const auto model =
      environment ? texts_of(*environment, "input_model") : std::vector<std::string>{};
  return ResultMap{*map, result_title(entry->attributes, request.index("head")),
                   result_source(entry->attributes, model.empty() ? "" : model.front())};
}

HeatmapPanel panel_of(const ResultMap& result, const std::string& path, Map2d quantity,
                      const FigureRequest& request) {
  const LabelledArray& array = result.map;
  const std::string variable = quantity == Map2d::weights ? "weight" : "logit";
  const std::size_t batch = request.index("batch"), head = request.index("head");
  const std::size_t heads = axis_of(array, "head", path).size();
  check_index("batch", batch, static_cast<std::int64_t>(axis_of(array, "batch", path).size()));
  check_index("head", head, static_cast<std::int64_t>(heads));
  HeatmapPanel panel;
  panel.title = result.title.empty() ? stem_of(path) : result.title;
  panel.rows = axis_of(array, "query", path).size();
  panel.cols = axis_of(array, "key", path).size();
  const LabelledVariable* map = array.variable(variable);
  if (map != nullptr && map->axes != std::vector<std::string>{"batch", "head", "query", "key"}) {
    fail("{}: {} has the axes [{}] (expected [batch, head, query, key])", path, variable,
         fmt::join(map->axes, ", "));
  }
  const std::vector<double> all = numbers_of(array, variable, path);
  const auto begin =
      all.begin() + static_cast<std::ptrdiff_t>((batch * heads + head) * panel.rows * panel.cols);
  panel.values.assign(begin, begin + static_cast<std::ptrdiff_t>(panel.rows * panel.cols));
  const auto tokens = [&](const char* name, std::size_t n) {
    return tokens_of_batch(texts_of(array, name), static_cast<std::int64_t>(n),
                           static_cast<std::int64_t>(batch));
  };
  panel.row_tokens = tokens("query_token", panel.rows);
  panel.column_tokens = tokens("key_token", panel.cols);
  for (const double value : panel.values) {
    if (quantity == Map2d::logits) panel.masked.push_back(value == -HUGE_VAL ? 1 : 0);
  }
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
                       "beside_join", "special"});
    maps.panels.push_back(panel_of(*result, path, quantity, request));
    sources.insert(result->source);
    const std::size_t here = axis_of(result->map, "batch", path).size();
    batches = std::max(batches, static_cast<std::int64_t>(here));
  }
  name_alike_by_file(maps.panels, request.inputs);
  maps.caption = head_caption(sources.size() == 1 ? *sources.begin() : "", batches, request);
  return true;
}

}  // namespace

void read_maps(const FigureRequest& request, figure::FigureInput& input) {
  if (request.inputs.empty()) {
    misuse("figure {} needs --input: {}", request.name, figure::figure_named(request.name).input());
  }
  const Map2d quantity = request.value("quantity") == "logits" ? Map2d::logits : Map2d::weights;
  if (!read_results(request, quantity, input)) read_trace_maps(request, quantity, input);
  if (input.panels.size() != request.inputs.size()) return;
  input.names.clear();
  for (const std::string& path : request.inputs) input.names.push_back(stem_of(path));
}

}  // namespace conelab
