// Reads the layer of a trace, and the head of it, that a figure draws.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/study/figure_request.h"
#include "core/trace/trace.h"

namespace conelab {

/// Reads FILE or FILE:/group; the request's key `arrays` names its q, k and v, and the key
/// `<prefix>arrays` goes before it. Throws misuse if its n_q x n_k matrix is too large to be drawn.
[[nodiscard]] std::shared_ptr<const Trace> read_trace_layer(const FigureRequest& request,
                                                            const std::string& spec,
                                                            const std::string& prefix = "");
/// Returns the groups of a file that hold a trace, as layers.h orders them; "" alone for a file
/// without groups.
[[nodiscard]] std::vector<std::string> layer_groups(const FigureRequest& request,
                                                    const std::string& file,
                                                    const std::string& prefix = "");

/// Returns the operators that the key `key` of the request gives; if it is not given, the trace's
/// own, or else the key's default.
[[nodiscard]] std::string operators_of(const FigureRequest& request, const std::string& key,
                                       const Trace& trace);

/// Returns "MiniLM, german/layer3" for a model's name, which is cut at its first bracket, and a
/// group. Either may be empty.
[[nodiscard]] std::string source_caption(const std::string& model, const std::string& group);

/// Returns "MiniLM, german/layer3, batch 1, head 5": the source, or the name of the only input if
/// the source is empty, and the head that is drawn. The batch element is named if there are
/// several.
[[nodiscard]] std::string head_caption(const std::string& source, std::int64_t batches,
                                       const FigureRequest& request);

/// Returns the number that a key of the request gives. Throws misuse, in a message that names the
/// key as `axis`, unless it is below `size`.
[[nodiscard]] std::int64_t index_below(const FigureRequest& request, const std::string& key,
                                       const char* axis, std::int64_t size);
/// Throws misuse, in a message that names the key `axis`, unless index < size.
void check_index(const char* axis, std::size_t index, std::int64_t size);

}  // namespace conelab
