// The cases of `conelab bench`, on whichever device they name.
#pragma once

#include "core/bench/executor.h"

namespace conelab {

/// The engine's cases on the CPU, and the same on the GPU where one is named.
[[nodiscard]] Workload bench_workload();

}  // namespace conelab
