// Describes any exception to a user, in one way for the command, jobs, the desktop and C.
#pragma once

#include <string>
#include <utility>

namespace conelab {

/// Returns the exit status and the text of the exception that is being handled: 1 failure, 2
/// misuse, 130 interrupted. Must be called in a catch block.
[[nodiscard]] std::pair<int, std::string> describe_current_exception();

}  // namespace conelab
