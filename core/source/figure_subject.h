// The attention maps of a trace that a figure draws: of one head, of all heads of a layer together,
// or of the layers up to it; and of another layer or file that they are compared with.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/call/call.h"
#include "core/files/labelled_array.h"
#include "core/source/figure_request.h"
#include "core/trace/trace.h"

namespace conelab {

// Reads the layer of a trace, and the head of it, that a figure draws.

/// Reads FILE or FILE:/group; the request's key `arrays` names its q, k and v, and the key
/// `<prefix>arrays` replaces it. Throws misuse if its n_q x n_k matrix is too large to be drawn,
/// unless the figure is not one `of_pairs`.
[[nodiscard]] std::shared_ptr<const Trace> read_trace_layer(const FigureRequest& request,
                                                            const std::string& spec,
                                                            const std::string& prefix = "",
                                                            bool of_pairs = true);
/// Returns the groups of a file that hold a trace, as layers.h orders them; "" alone for a file
/// without groups.
[[nodiscard]] std::vector<std::string> layer_groups(const FigureRequest& request,
                                                    const std::string& file,
                                                    const std::string& prefix = "");

/// Returns the operators that the key `key` of the request gives, with what they do not give of the
/// trace's own; if it is not given, the trace's own, or else the key's default.
[[nodiscard]] std::string operators_of(const FigureRequest& request, const std::string& key,
                                       const Trace& trace);

/// Returns "MiniLM, german/layer3" for a model's name, which is cut at its first bracket, and a
/// group. Either may be empty.
[[nodiscard]] std::string source_caption(const std::string& model, const std::string& group);

/// Returns the stem of a file's name, by which captions name it; empty for a result in the folder
/// of a study, whose name is a digest.
[[nodiscard]] std::string file_title(const std::string& path);

/// Returns "MiniLM, german/layer3, batch 1, head 5": the source, or the title of the only input if
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

/// Returns the map of a head under a call of one word, without what the figure adds to it.
[[nodiscard]] figure::HeatmapPanel panel_of_head(const Trace& trace, std::int64_t batch,
                                                 std::int64_t head, const std::string& similarity,
                                                 Map2d quantity, const Execution& execution);

/// Masks the pairs of special tokens, [CLS] and <s>, if the request's key `special` excludes them.
void exclude_special_tokens(const FigureRequest& request, figure::HeatmapPanel& map);
/// Returns the sentence about that for a caption; empty if they are shown.
[[nodiscard]] std::string excluded_note(const FigureRequest& request);

/// Reads the maps of the only input under each of the request's operators, joined as its key `join`
/// says, and those that its key `beside` names.
void read_trace_maps(const FigureRequest& request, Map2d quantity, figure::FigureInput& input);

// The origin of a result of `attend` or `tree`, read from its attributes, for the titles and
// captions of figures.

/// Returns the kind of a result (core/files/result_kind.h). Returns an empty text for FILE:/group
/// and for any other file. Throws a failure if the file cannot be read.
[[nodiscard]] std::string kind_of_input(const FigureRequest& request, const std::string& input);

/// Returns the call as a title for this head, "penumbral, gamma = 2, causal". It is read from the
/// attribute `call`; in files without it from `spec`, and then without parameters, because `spec`
/// lists defaults too. Returns an empty text if the file has neither.
[[nodiscard]] std::string result_title(const Attributes& attributes, std::size_t head);

/// Returns the name of the call's similarity, or an empty text if the attributes do not hold it.
[[nodiscard]] std::string result_similarity(const Attributes& attributes);

/// Returns the origin of the tokens, "MiniLM, german/layer3": the model's name, and the group of
/// the input that `spec` names. Either may be missing.
[[nodiscard]] std::string result_source(const Attributes& attributes, const std::string& model);

/// Throws misuse if the request sets one of `keys`, which choose what is computed from a trace,
/// although the file at `path` is a finished result. The message says what it `holds`.
void refuse_trace_keys(const FigureRequest& request, const std::string& path,
                       const std::string& holds, const std::vector<std::string>& keys);

}  // namespace conelab
