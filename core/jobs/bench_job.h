// The job `bench`: a sweep in interleaved rounds, with one worker process for each case.
#pragma once

#include <string>

#include "core/bench/measured.h"
#include "core/bench/runner.h"
#include "core/job/job_spec.h"

namespace conelab {

/// Returns the options with what the context knows added: the command of the workers, and a
/// description of each device of the sweep except the CPU.
[[nodiscard]] BenchOptions with_context(const Sweep& sweep, BenchOptions options,
                                        const JobContext& context);

// A benchmark's result as JSON, as `conelab bench --json` and `conelab compare --json` print it.
// JSON has no numbers that are not finite: the library prints them as null.

/// Returns the labels of a case as an object whose keys are the names of the result file's axes.
[[nodiscard]] Json labels_json(const Case& labels);

/// Returns the A/A control: how many cases were measured twice, at which rate these came out
/// different, and the 95 % interval of that rate.
[[nodiscard]] Json control_json(const MeasuredControl& control);

/// Returns the whole result: `output` (the file's name), `cases` with every label and number,
/// `exponents` (global and local), `control` (A/A) and `notes`.
[[nodiscard]] Json bench_json(const LabelledFile& file, const std::string& name);

}  // namespace conelab
