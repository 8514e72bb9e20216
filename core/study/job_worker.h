// Jobs in processes of their own, so that one that crashes, hangs or needs too much memory ends
// alone, and results do not depend on what ran before.
//
// The worker reads one line of JSON, {"folder", "also", "live", "job"}, and while it works any
// number of lines {"allowed"} (JobContext::allowed). It works in that folder, and answers in lines
// of JSON:
// {"stage", "fraction"}, {"remark"}, {"live"} (JobContext::live), and at the end {"report"} or
// {"error", "status"}.
#pragma once

#include <string>
#include <vector>

#include "core/job/job_spec.h"

namespace conelab {

/// The worker's side, in a process that `context` belongs to. Returns the exit status.
int run_job_worker(const JobContext& context);

/// Runs a job in a worker that `command` starts, within `folder`, to which relative paths refer.
/// The report has neither a summary nor lines.
/// The context's functions are called from this thread; its `also` is handed on. Throws as
/// `run_job` does, and a failure if the worker ends without an answer. If the context wants the job
/// to stop, the worker gets a few seconds to keep what it has measured.
[[nodiscard]] JobReport run_in_worker(const std::vector<std::string>& command,
                                      const std::string& folder, const JobSpec& spec,
                                      const JobContext& context);

}  // namespace conelab
