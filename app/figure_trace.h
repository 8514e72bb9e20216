// Reads the layer of a trace, and the head of it, that a figure draws.
#pragma once

#include <string>
#include <vector>

#include "app/figure_request.h"
#include "core/operators/operator.h"

namespace conelab {

/// All heads of a layer.
struct TraceLayer {
  AttentionInput<double> input;  ///< [batch x head x n x d]
  Extents extents;
  std::vector<std::string> query_token, key_token;  ///< [n_q], [n_k], or empty.
  std::string file, group;
  std::string source;  ///< For example "MiniLM, german/layer3".
};

/// One head of a trace.
struct TraceHead {
  AttentionInput<double> input;  ///< [1 x 1 x n x d]
  Extents extents;               ///< Those of the whole trace.
  std::int64_t head = 0;
  std::vector<std::string> query_token, key_token;  ///< [n_q], [n_k], or empty.
  std::string caption;  ///< For example "MiniLM, german/layer3, head 5".
};

/// Reads FILE or FILE:/group; the request's key `arrays` names its q, k and v, and the key
/// `<prefix>arrays` goes before it. Throws misuse if its n_q x n_k matrix is too large to be drawn.
[[nodiscard]] TraceLayer read_trace_layer(const FigureRequest& request, const std::string& spec,
                                          const std::string& prefix = "");
/// Returns the groups of a file that hold a trace, as layers.h orders them; "" alone for a file
/// without groups.
[[nodiscard]] std::vector<std::string> layer_groups(const FigureRequest& request,
                                                    const std::string& file,
                                                    const std::string& prefix = "");
/// Returns a head of a layer, without a caption. Throws misuse if there is no such head.
[[nodiscard]] TraceHead head_of_layer(const TraceLayer& layer, std::size_t batch, std::size_t head);

/// Reads the head that the request's keys `batch` and `head` choose. Throws misuse as the functions
/// above do.
[[nodiscard]] TraceHead read_trace_head(const FigureRequest& request);

/// Returns "MiniLM, german/layer3" for a model's name, which is cut at its first bracket, and a
/// group. Either may be empty.
[[nodiscard]] std::string source_caption(const std::string& model, const std::string& group);

/// Returns "MiniLM, german/layer3, batch 1, head 5": the source, or the name of the only input if
/// the source is empty, and the head that is drawn. The batch element is named if there are
/// several.
[[nodiscard]] std::string head_caption(const std::string& source, std::int64_t batches,
                                       const FigureRequest& request);

/// Throws misuse, in a message that names the key `axis`, unless index < size.
void check_index(const char* axis, std::size_t index, std::int64_t size);

/// Parses a call of one word (core/call/call_text.h) and returns it for this head alone, with the
/// trace's own mask if it has one.
[[nodiscard]] Call call_on(const TraceHead& trace, const std::string& typed);

}  // namespace conelab
