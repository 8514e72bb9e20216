// The functions that the program hands to its window, which knows neither app nor gpu: figures,
// command lines, benchmarks, devices, the trace that ships.
#pragma once

#include "widgets/window/backends.h"

namespace conelab {

/// Returns them all; see widgets/window/backends.h for each.
[[nodiscard]] desktop::Backends desktop_backends();

}  // namespace conelab
