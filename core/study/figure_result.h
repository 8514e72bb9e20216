// The origin of a result of `attend` or `tree`, read from its attributes, for the titles and
// captions of figures.
#pragma once

#include <string>

#include "core/call/call.h"
#include "core/files/labelled_array.h"
#include "core/study/figure_request.h"

namespace conelab {

/// Returns the attribute `wanted` if it is text, else an empty text.
[[nodiscard]] std::string text_attribute(const Attributes& attributes, const std::string& wanted);

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
