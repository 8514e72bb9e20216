// One head of the trace that a figure draws.
#pragma once

#include <string>
#include <vector>

#include "app/figure_request.h"
#include "core/tiles/attention.h"

namespace conelab {

/// A trace cut down to the head that is drawn.
struct TraceHead {
  AttentionInput<double> input;
  Extents extents;  ///< Of the whole trace.
  std::int64_t head = 0;
  std::vector<std::string> query_token, key_token;
  std::string caption;  ///< "MiniLM, german/layer3, head 5"
};

/// By the request's keys `batch` and `head`; misuse where there is none such, or where a matrix of
/// its tokens is too large to be drawn.
[[nodiscard]] TraceHead read_trace_head(const FigureRequest& request);

/// "MiniLM, german/layer3" of a model's name, which is cut at its first bracket, and a group;
/// either may be empty.
[[nodiscard]] std::string source_caption(const std::string& model, const std::string& group);

/// "MiniLM, german/layer3, batch 1, head 5": a source, or the name of the only input where there is
/// none, and what is drawn of it; a batch element where there are several.
[[nodiscard]] std::string head_caption(const std::string& source, std::int64_t batches,
                                       const FigureRequest& request);

/// Misuse, naming the key, where an axis has no such index.
void check_index(const char* axis, std::size_t index, std::int64_t size);

/// What is typed (see call_text.h) as it reads for this head, under the trace's own mask where it
/// has one.
[[nodiscard]] Call call_on(const TraceHead& trace, const std::string& typed);

}  // namespace conelab
