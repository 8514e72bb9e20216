// The kinds of results of this program. A kind is named after the job that writes it, "attend": the
// job's row in core/jobs/job_table.cpp is the only one that a new kind needs.
//
// The root of a result has the attribute `conelab_format`. Its kind stands in the attribute
// `result`, or else `default` names the group that holds all of it: `attention`, which attend
// writes, or `tree` or `bench`.
#pragma once

#include <string>

#include "core/files/labelled_array.h"
#include "core/files/sandbox.h"

namespace conelab {

/// Returns the kind of a result, given the attributes of its root. Returns an empty text for any
/// other file.
[[nodiscard]] std::string result_kind(const Attributes& root);
/// Returns the same for a file of any format. Throws a failure if it cannot be read. hdf5_read.h
/// declares the same for an open file.
[[nodiscard]] std::string result_kind(const std::string& path, const SandboxLimits& limits = {});

/// Returns the input of a job, given its attribute `spec`. Returns an empty text if that names none
/// or is no JSON.
[[nodiscard]] std::string input_of_spec(const std::string& spec);

}  // namespace conelab
