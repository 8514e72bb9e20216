// The job `bench`: a sweep in interleaved rounds, with one worker process for each case.
#pragma once

#include "core/bench/runner.h"
#include "core/study/job_spec.h"

namespace conelab {

/// Returns the options with what the context knows added: the command of the workers, and a
/// description of each device of the sweep except the CPU.
[[nodiscard]] BenchOptions with_context(const Sweep& sweep, BenchOptions options,
                                        const JobContext& context);

}  // namespace conelab
