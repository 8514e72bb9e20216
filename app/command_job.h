// Declares and runs the jobs of core/jobs/job_table.h as subcommands.
#pragma once

#include "app/command.h"
#include "core/job/job_spec.h"

namespace conelab {

/// Returns the context of a job that a subcommand runs: warnings on standard error, and Ctrl-C. It
/// shows no progress.
[[nodiscard]] JobContext command_context();

/// Declares an option for each field of the kind, and `--json`. The action runs the job with a
/// progress bar and prints its report.
Action declare_job(const JobKind& kind, CLI::App& options);

}  // namespace conelab
