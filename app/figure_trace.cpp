#include "app/figure_trace.h"

#include <algorithm>
#include <filesystem>

#include "app/attend_input.h"
#include "core/base/error.h"
#include "core/operators/operator.h"

namespace conelab {
namespace {

/// A figure's map is held in memory. Larger maps can be written by `attend --keep weights`.
constexpr std::int64_t most_cells = std::int64_t{1} << 27;

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

TraceHead read_trace_head(const FigureRequest& request) {
  AttendJob job;
  job.input = request.single_input();
  Input file = read_attend_input(job, request.cancelled, tensor_parameters());
  TraceHead trace;
  const std::string source = source_caption(file.model, file.group);
  trace.query_token = file.query_token;
  trace.key_token = file.key_token;
  const AttentionInput<double> all = attention_input<double>(std::move(file), Dtype::f64);
  const Extents extents = check_extents(all);
  const std::size_t batch = request.index("batch"), head = request.index("head");
  check_index("batch", batch, extents.batch);
  check_index("head", head, extents.head);
  trace.caption = head_caption(source, extents.batch, request);
  if (extents.query * extents.key > most_cells) {
    misuse("{}: {} x {} is too large for a figure of the whole map", job.input, extents.query,
           extents.key);
  }
  trace.extents = extents;
  trace.head = static_cast<std::int64_t>(head);
  trace.input = input_of_head(all, static_cast<std::int64_t>(batch), trace.head);
  trace.input.output_grad = {};
  return trace;
}

Call call_on(const TraceHead& trace, const std::string& typed) {
  Call call = call_from_text(typed);
  if (makes_heads(call)) {
    misuse("{} makes its own heads: keep the weights of `attend`, and draw the result's head",
           operator_name(call));
  }
  if (!trace.input.allowed.empty()) call = call_with_own_mask(call);
  return call_of_head(call, trace.extents, trace.head);
}

}  // namespace conelab
