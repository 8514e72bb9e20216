// This header adds to a benchmark what only the program knows: the devices that cases run on, how
// workers start, and the command line of the desktop's form.
#pragma once

#include <string>
#include <vector>

#include "core/bench/runner.h"
#include "widgets/session/session.h"

namespace conelab {

/// Returns the cases that the program can measure: those of the engine on the CPU, and on the GPU
/// if a case names it.
[[nodiscard]] Workload bench_workload();

/// Returns the options with the command of the workers and the descriptions of the sweep's devices
/// added.
[[nodiscard]] BenchOptions with_program(const Sweep& sweep, BenchOptions options);

/// Returns the words of the command line, "conelab" first, that runs the sweep of the desktop's
/// form. Every option is written out, so that the line does not depend on defaults.
[[nodiscard]] std::vector<std::string> bench_command(const desktop::BenchChoice& typed,
                                                     const std::string& output);

}  // namespace conelab
