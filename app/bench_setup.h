// This header adds to a benchmark what only the program knows: the devices that cases run on, how
// workers start, and the command line of the desktop's form.
#pragma once

#include <string>
#include <vector>

#include "core/bench/runner.h"
#include "widgets/session/session.h"

namespace conelab {

/// The engine's cases on the CPU, and the same on the GPU where a case names it.
[[nodiscard]] Workload bench_workload();

/// Completes the options: the workers, and what the sweep's devices are.
[[nodiscard]] BenchOptions with_program(const Sweep& sweep, BenchOptions options);

/// The `conelab bench` that runs the sweep of the desktop's form, as argument vector with "conelab"
/// first. Every option is written out, so that the line says it all.
[[nodiscard]] std::vector<std::string> bench_command(const desktop::BenchChoice& typed,
                                                     const std::string& output);

}  // namespace conelab
