// A call as one word, as `--operator` and the lists of operators of benchmarks and figures take it,
// and as a panel's title.
//
//   penumbral:gamma=2:height=0.5:masks=causal+padding
//   agglomerative:classes=8:P=random
//
// The operator (a similarity, or a structured operator), then what differs from a default call as
// KEY=VALUE: a field of the call by its name or its option's name, lists joined by '+', or else a
// parameter.
#pragma once

#include <string>

#include "core/call/call.h"

namespace conelab {

/// Sets the operator of a call by its name: a similarity; a structured operator, which then has the
/// similarity that such operators take by default; or a name for a similarity with a mask
/// (core/call/composed.h). Any other name is refused by `resolve`.
void set_operator(Call& call, const std::string& name);
/// Throws misuse where a call whose operator has been set by this name has another similarity or
/// other masks than the name stands for.
void check_named_operator(const Call& call, const std::string& name);

/// Throws misuse for an entry that is no KEY=VALUE and for a key that comes twice; names are
/// checked where the call is resolved.
[[nodiscard]] Call call_from_text(const std::string& text);
/// The inverse. Values must hold neither ':' nor ','.
[[nodiscard]] std::string call_text(const Call& call);

/// "penumbral, gamma = 2, causal": the similarity and what the text names, so that different calls
/// have different titles.
[[nodiscard]] std::string call_title(const Call& call);

/// The call on an input that brings a mask of its own (`AttentionInput::allowed`), which applies by
/// itself.
[[nodiscard]] Call call_with_own_mask(Call call);

}  // namespace conelab
