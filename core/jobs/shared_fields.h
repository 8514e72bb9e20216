// The fields that several jobs have, and the kinds of jobs whose output they read.
#pragma once

#include <string>
#include <vector>

#include "core/files/tensor_source.h"
#include "core/job/job_spec.h"

namespace conelab {

[[nodiscard]] JobField input_field();      ///< A file with q, k and v.
[[nodiscard]] JobField hierarchy_field();  ///< A file with a hierarchy.
[[nodiscard]] JobField output_field(const std::string& about = "the HDF5 file to write");
[[nodiscard]] JobField parameters_field(const std::string& about);
[[nodiscard]] JobField call_field();
[[nodiscard]] JobField lengths_field();
[[nodiscard]] JobField threads_field();
/// A whole number from `least` to `most`; its option is --NAME.
[[nodiscard]] JobField integer_field(const char* name, const char* about, const char* initial,
                                     std::int64_t least, std::int64_t most);

/// Returns the kinds of the jobs that write q, k and v or a hierarchy.
[[nodiscard]] std::vector<std::string> token_sources(const JobSpec&);

/// Returns the kind with the rows of the fields that say how an input is read.
[[nodiscard]] JobKind with_reading_fields(JobKind kind);
[[nodiscard]] Reading reading_of(const JobSpec& spec);
/// Gives a spec these values, without those that are defaults.
void add_reading(const Reading& reading, JobSpec& spec);

}  // namespace conelab
