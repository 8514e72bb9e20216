// The cases of `conelab bench` on the CPU and on the GPU.
#pragma once

#include "core/bench/executor.h"
#include "core/bench/runner.h"

namespace conelab {

/// Returns what runs a case: on the CPU, or on the GPU if the case names it.
[[nodiscard]] Workload bench_workload();

/// Returns the options with what only the program knows filled in: the command of its worker
/// processes, and descriptions of the sweep's devices.
[[nodiscard]] BenchOptions with_program(const Sweep& sweep, BenchOptions options);

}  // namespace conelab
