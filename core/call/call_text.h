// A call as one word of text, for `--operator`, for the lists of operators of benchmarks and
// figures, and as the title of a panel.
//
//   penumbral:gamma=2:height=0.5:masks=causal+padding
//   agglomerative:classes=8:P=random
//
// It begins with the operator, a similarity or a structured operator. Each difference from the
// default call follows as KEY=VALUE. KEY is a field of the call (by its name or its option's name;
// lists are joined by '+') or a parameter. Lists of calls are split by `split_names`.
#pragma once

#include <string>

#include "core/call/call.h"

namespace conelab {

/// Sets the operator of a call by name. The name may be a similarity; a structured operator, which
/// then gets the default similarity of such operators; or a name for a similarity with a mask
/// (core/call/composed.h). `resolve` refuses any other name.
void set_operator(Call& call, const std::string& name);
/// Throws misuse if the call's operator has been set by this name but its similarity or masks are
/// not those that the name stands for.
void check_named_operator(const Call& call, const std::string& name);

/// Returns the call of a text. Throws misuse for an entry that is not KEY=VALUE and for a repeated
/// key. Names are checked when the call is resolved.
[[nodiscard]] Call call_from_text(const std::string& text);
/// Returns the text of a call. Values must not contain ':'.
[[nodiscard]] std::string call_text(const Call& call);

/// Returns a title such as "penumbral, gamma = 2, causal": the operator and all differences from
/// the default call, so that different calls have different titles.
[[nodiscard]] std::string call_title(const Call& call);

/// Returns the call for an input that contains a mask (`AttentionInput::allowed`), which then
/// applies.
[[nodiscard]] Call call_with_own_mask(Call call);

}  // namespace conelab
