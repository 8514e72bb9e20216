// Any exception as one line on standard error and an exit status.
#pragma once

#include <string>

namespace conelab {

/// To be called in a catch block. Prints `conelab: error: <what>` and returns the exit status.
[[nodiscard]] int report_current_exception() noexcept;

/// `text` on one line: control characters and bytes that are no UTF-8 are shown as \xNN, and what
/// is longer than 2,000 bytes is cut.
[[nodiscard]] std::string one_line(const std::string& text);

}  // namespace conelab
