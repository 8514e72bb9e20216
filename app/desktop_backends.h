// Makes the functions that the program hands to its window, because widgets include neither app nor
// gpu: figures, command lines, benchmarks, devices, and the trace that is installed with the
// program.
#pragma once

#include "widgets/window/backends.h"

namespace conelab {

/// Returns them all; see widgets/window/backends.h for each.
[[nodiscard]] desktop::Backends desktop_backends();

}  // namespace conelab
