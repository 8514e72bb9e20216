// Any exception as one line on standard error and an exit status.
#pragma once

namespace conelab {

/// To be called in a catch block. Prints `conelab: error: <what>` and returns the exit status.
[[nodiscard]] int report_current_exception() noexcept;

}  // namespace conelab
