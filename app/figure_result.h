// What a result of `attend` or `tree` says of its origin, for the titles and captions of figures.
#pragma once

#include <string>

#include "app/figure_request.h"
#include "core/files/labelled_array.h"

namespace conelab {

/// An attribute that is text; empty where there is none.
[[nodiscard]] std::string text_attribute(const Attributes& attributes, const std::string& wanted);

/// "penumbral, gamma = 2, causal": what was asked for as it reads for this head, from the
/// attributes `call`, or in files without it `spec` (then without its parameters, which are there
/// whether asked for or not). Empty where neither tells.
[[nodiscard]] std::string result_title(const Attributes& attributes, std::size_t head);

/// The similarity that was asked for; empty where the attributes do not tell.
[[nodiscard]] std::string result_similarity(const Attributes& attributes);

/// "MiniLM, german/layer3", of the model's name and the input that `spec` names; either may be
/// missing.
[[nodiscard]] std::string result_source(const Attributes& attributes, const std::string& model);

/// Misuse, naming what the file holds, where the request sets a key that chooses what is computed
/// from a trace.
void refuse_trace_keys(const FigureRequest& request, const std::string& path,
                       const std::string& holds, const std::vector<std::string>& keys);

}  // namespace conelab
