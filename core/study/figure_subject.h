// The attention maps of a trace that a figure draws: of one head, of all heads of a layer together,
// or of the layers up to it; and of another layer or file that they are compared with.
#pragma once

#include "core/study/figure_trace.h"

namespace conelab {

/// Returns the map of a head under a call of one word, without what the figure adds to it.
[[nodiscard]] figure::HeatmapPanel panel_of_head(const Trace& trace, std::int64_t batch,
                                                 std::int64_t head, const std::string& similarity,
                                                 Map2d quantity,
                                                 const std::function<bool()>& cancelled);

/// Masks the pairs of special tokens, [CLS] and <s>, if the request's key `special` excludes them.
void exclude_special_tokens(const FigureRequest& request, figure::HeatmapPanel& map);
/// Returns the sentence about that for a caption; empty if they are shown.
[[nodiscard]] std::string excluded_note(const FigureRequest& request);

/// Reads the maps of the only input under each of the request's operators, joined as its key `join`
/// says, and those that its key `beside` names.
void read_trace_maps(const FigureRequest& request, Map2d quantity, figure::FigureInput& input);

}  // namespace conelab
