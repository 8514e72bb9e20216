// What an operator's card offers: the parts that fit the operator, and the call that follows from
// choosing another operator. Free of windows; everything comes from the engine's tables.
#pragma once

#include <string>
#include <vector>

#include "core/operators/operator.h"

namespace conelab::desktop {

/// Returns the parts that a field of the call may name, each name once. The maps and biases of an
/// operator that makes heads are those of its similarity. It is empty if the call's operator does
/// not take the field. `explicit` and `padding` are left out: a file brings along what they read.
[[nodiscard]] std::vector<PartInfo> fitting_parts(const CallField& field, const Call& call);

/// Returns the name of the map that applies where the call names none: the similarity's own.
[[nodiscard]] std::string own_map(const Call& call);

/// Returns whether a call must give the parameter, a number without a default.
[[nodiscard]] bool is_needed(const ParameterInfo& info);

/// Returns the call with another operator. Parts that fit it stay, with their parameters.
[[nodiscard]] Call with_operator(const Call& call, const std::string& name);

/// Removes the parameters that no part of the call takes any more.
void keep_known_parameters(Call& call);

/// Returns what is said of an operator: its formula and paper, its cost, and where it is computed.
[[nodiscard]] std::string operator_help(const OperatorListing& listing);

}  // namespace conelab::desktop
