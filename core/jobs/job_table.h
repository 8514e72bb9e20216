// The table of jobs, what makes and checks a spec of any of them, and the one function that runs
// it.
//
// A job is a file core/jobs/<name>_job.cpp with its fields and its function, a row in
// job_table.cpp, and its test. The row makes it a subcommand and a block of studies.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/job/job_spec.h"

namespace conelab {

/// Returns all kinds in the order of the help.
[[nodiscard]] const std::vector<JobKind>& job_table();
/// Returns the kind with this name. Throws misuse, which names the nearest and lists all, if there
/// is none.
[[nodiscard]] const JobKind& job_named(const std::string& name);

/// Returns the job with these values, whose names are those of `typed_fields`. A call without an
/// operator takes the one that the input names as its own, if it does. Throws misuse if the parts
/// of a call contradict each other or are missing.
[[nodiscard]] JobSpec spec_of_typed(const JobKind& kind, FieldValues typed);

/// Parses what `spec_to_json` returns. Throws misuse for unknown members and wrong values.
[[nodiscard]] JobSpec spec_from_json(const Json& json);
/// Throws misuse if a required field is absent, for an unknown key of `-p`, and for what the kind's
/// `check` finds.
void check_spec(const JobSpec& spec);

/// Runs the job and adds its remarks to its report. Throws as `JobKind::run` does; a job that was
/// interrupted names its output, of which nothing was written.
[[nodiscard]] JobReport run_job(const JobSpec& spec, const JobContext& context);

/// Returns the files that the job reads, as they were given ("FILE.h5:/group"), each once: inputs,
/// arrays in .npy files, and the parameters KEY=@FILE.
[[nodiscard]] std::vector<std::string> files_read(const JobSpec& spec);

/// Returns what identifies the job's result, as 64 hexadecimal digits: the SHA-256 of its spec as
/// JSON, where the digest of its content stands for each file that it reads, and of the version of
/// its kind. `digest` returns that of a path without a group.
[[nodiscard]] std::string job_key(const JobSpec& spec,
                                  const std::function<std::string(const std::string&)>& digest);

}  // namespace conelab
