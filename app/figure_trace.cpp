#include "app/figure_trace.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/files/layers.h"
#include "core/files/tensor_source.h"
#include "core/operators/operator.h"
#include "core/study/attention_input.h"
#include "core/study/call_json.h"
#include "core/study/job_input.h"

namespace conelab {
namespace {

/// A figure's map is held in memory. Larger maps can be written by `attend --keep weights`.
constexpr std::int64_t most_cells = std::int64_t{1} << 27;

/// Returns the names of q, k and v that the key `<prefix>arrays` gives, otherwise those of
/// `arrays`; empty if neither is given, or for q,k,v, the names of which k and v may be missing.
std::vector<std::string> array_names(const FigureRequest& request, const std::string& prefix) {
  const std::string key = request.value(prefix + "arrays").empty() ? "arrays" : prefix + "arrays";
  const std::string typed = request.value(key);
  if (typed.empty()) return {};
  std::vector<std::string> names = split_list(typed, "-p " + key);
  if (names.size() != 3) {
    misuse("-p {}={}: expected the names of q, k and v, separated by commas", key, typed);
  }
  if (names == std::vector<std::string>{"q", "k", "v"}) return {};
  return names;
}

}  // namespace

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

std::vector<std::string> layer_groups(const FigureRequest& request, const std::string& file,
                                      const std::string& prefix) {
  const FileFormat format = detect_format(file);
  if (format == FileFormat::npy) return {""};
  const std::vector<std::string> arrays = array_names(request, prefix);
  const std::string query = arrays.empty() ? "q" : arrays.front();
  if (format == FileFormat::hdf5) {
    return groups_with_queries(inspect_without_digest(file, {.cancelled = request.cancelled}),
                               query);
  }
  const SourceRules rules{false, {}, request.cancelled};
  const auto source = format == FileFormat::npz ? open_npz_source(file, rules)
                                                : open_safetensors_source(file, rules);
  return groups_of_archive(source->names(), query);
}

TraceLayer read_trace_layer(const FigureRequest& request, const std::string& spec,
                            const std::string& prefix) {
  AttendJob job;
  job.input = spec;
  if (const std::vector<std::string> names = array_names(request, prefix); !names.empty()) {
    job.query = names[0], job.key = names[1], job.value = names[2];
  }
  // draw_figure hashes each file once, however many layers are read.
  Input file = read_attend_input(job, request.cancelled, tensor_parameters(), false);
  TraceLayer layer;
  layer.file = file.path;
  layer.group = file.group;
  layer.source = source_caption(file.model, file.group);
  layer.query_token = file.query_token;
  layer.key_token = file.key_token;
  layer.input = attention_input<double>(std::move(file), Dtype::f64);
  layer.input.output_grad = {};
  layer.extents = check_extents(layer.input);
  if (layer.extents.query * layer.extents.key > most_cells) {
    misuse("{}: {} x {} is too large for a figure of the whole map", spec, layer.extents.query,
           layer.extents.key);
  }
  return layer;
}

TraceHead head_of_layer(const TraceLayer& layer, std::size_t batch, std::size_t head) {
  check_index("batch", batch, layer.extents.batch);
  check_index("head", head, layer.extents.head);
  const auto index = static_cast<std::int64_t>(head);
  return {input_of_head(layer.input, static_cast<std::int64_t>(batch), index),
          layer.extents,
          index,
          layer.query_token,
          layer.key_token,
          ""};
}

TraceHead read_trace_head(const FigureRequest& request) {
  const TraceLayer layer = read_trace_layer(request, request.single_input());
  TraceHead trace = head_of_layer(layer, request.index("batch"), request.index("head"));
  trace.caption = head_caption(layer.source, layer.extents.batch, request);
  return trace;
}

Call call_on(const TraceHead& trace, const std::string& typed) {
  Call call = call_from_text(typed);
  if (!trace.input.allowed.empty()) call = call_with_own_mask(call);
  return call_of_head(call, trace.extents, trace.head);
}

}  // namespace conelab
