// The cases of `conelab bench`, on whichever device they name.
#pragma once

#include "core/bench/executor.h"
#include "core/bench/runner.h"

namespace conelab {

/// The engine's cases on the CPU, and the same on the GPU where one is named.
[[nodiscard]] Workload bench_workload();

/// The options with what only the program knows: its workers, and what the sweep's devices are.
[[nodiscard]] BenchOptions with_program(const Sweep& sweep, BenchOptions options);

}  // namespace conelab
