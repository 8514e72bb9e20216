// The operator that a trace was made for, as attributes of its group: `similarity` and, by their
// keys, the numbers that are its parameters. `conelab train` writes them. Commands and views then
// take this operator where the user chooses none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/call/call.h"
#include "core/files/labelled_array.h"

namespace conelab {

/// Returns the names of the attributes that may say it.
[[nodiscard]] std::vector<std::string> own_call_attributes();

/// Returns the call of such attributes, without parameters that have their defaults; nothing if
/// they name no similarity that there is.
[[nodiscard]] std::optional<Call> own_call(const std::map<std::string, AttributeValue>& attributes);

/// Returns in one line that parameters of the trace's own operator have their defaults in `call`,
/// where they were not given; empty if none has, or if it is another operator.
[[nodiscard]] std::string defaults_remark(const std::optional<Call>& own, const Call& call);

}  // namespace conelab
