#include "core/study/figure_trace.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/call/call_text.h"
#include "core/study/call_json.h"

namespace conelab {
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
  const bool own = trace.own_call && !request.parameters.contains(key);
  return own ? call_text(*trace.own_call) : request.value(key);
}

std::string source_caption(const std::string& model, const std::string& group) {
  std::string caption = model.substr(0, model.find(" ("));
  if (!group.empty())
    caption += (caption.empty() ? "" : ", ") + group.substr(group.starts_with('/') ? 1 : 0);
  return caption;
}

std::string head_caption(const std::string& source, std::int64_t batches,
                         const FigureRequest& request) {
  std::string caption = source;
  if (caption.empty() && request.inputs.size() == 1) {
    caption = std::filesystem::path(request.inputs.front()).stem().string();
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
                                              const std::string& prefix) {
  const InputSpec parsed = parse_input_spec(spec);
  // draw_figure hashes each file once, however many layers are read.
  auto trace = load_trace(parsed.path, parsed.group, request.context.cancelled,
                          array_names(request, prefix), false);
  if (!trace->remark.empty()) request.context.say("{}", trace->remark);
  const Extents e = trace->extents();
  if (e.query * e.key > most_cells) {
    misuse("{}: {} x {} is too large for a figure of the whole map", spec, e.query, e.key);
  }
  return trace;
}

}  // namespace conelab
