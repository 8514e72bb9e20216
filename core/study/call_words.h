// The parts of a call as they are typed: options of the command line, or keys of TOML.
#pragma once

#include <vector>

#include "core/study/job_spec.h"

namespace conelab {

/// Returns the fields `operator` (a call as one word), `parameters`, and one for each part. Their
/// help and the allowed names come from the tables.
[[nodiscard]] std::vector<JobField> call_word_fields();

/// Takes the values of these fields out of `typed` and returns their call. Throws misuse if there
/// is neither a similarity nor an operator, and if the word of the latter contradicts a part. Names
/// and keys are checked by `resolve`.
[[nodiscard]] Call take_call(FieldValues& typed);

}  // namespace conelab
