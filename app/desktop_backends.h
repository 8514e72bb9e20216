// What the program hands over to its window: figures, commands, benchmarks, the shipped trace.
#pragma once

#include "widgets/window/backends.h"

namespace conelab {

[[nodiscard]] desktop::Backends desktop_backends();

}  // namespace conelab
