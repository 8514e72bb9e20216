// Reports any exception as one line on standard error and an exit status.
#pragma once

namespace conelab {

/// Prints `conelab: error: <what>` for the exception that is being handled and returns the exit
/// status: 1 failure, 2 misuse, 130 interrupted. Must be called in a catch block.
[[nodiscard]] int report_current_exception() noexcept;

}  // namespace conelab
