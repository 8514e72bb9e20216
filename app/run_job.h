// Runs a job for a subcommand: with a progress bar, warnings on standard error, and Ctrl-C.
#pragma once

#include <string>

#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "core/base/error.h"
#include "core/study/job.h"
#include "gpu/cuda_backend.h"

namespace conelab {

/// Returns the context of a job that a subcommand runs, without progress.
[[nodiscard]] inline JobContext command_context() {
  return {.cancelled = interrupted, .remark = print_warning, .cuda = &cuda_backend()};
}

/// Returns run(context). An interruption says that nothing was written to `output`.
template <class Run>
auto run_with_bar(const char* title, const std::string& output, const Run& run) {
  Progress bar(title);
  JobContext context = command_context();
  context.progress = [&](const char* stage, double done) { bar.update(done, stage); };
  try {
    return run(context);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(error.kind(), output + ": interrupted; nothing was written");
  }
}

}  // namespace conelab
