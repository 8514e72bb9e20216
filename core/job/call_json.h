// Converts a call to JSON, which result files store as `spec`, and to the arguments of the command
// line, which the desktop's "copy as command" puts on the clipboard; and parses both.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/call/call.h"
#include "core/job/job_spec.h"

namespace conelab {

/// Returns an object with the fields of the call (core/call/call.h) and "parameters", which are
/// numbers, lists of numbers or words. The name of a structured operator is the member "operator".
/// The other fields of such a call, and "map" and "position" of any call, are left out if they have
/// their defaults.
[[nodiscard]] Json call_to_json(const Call& call);

/// Parses what `call_to_json` returns. Absent members keep their defaults. Throws misuse for
/// unknown members and for values of a wrong type.
[[nodiscard]] Call call_from_json(const Json& json);

/// Returns the value of a parameter as a number, a list of numbers, or its text.
[[nodiscard]] Json parameter_to_json(const Value& value);

/// Returns the options that choose this call: "--similarity", "penumbral", "-p", "gamma=2", ...
/// Defaults are left out.
[[nodiscard]] std::vector<std::string> call_arguments(const Call& call);

/// Returns a JSON value as one line. Bytes that are not UTF-8, as names of files may have, are
/// replaced.
[[nodiscard]] std::string json_line(const Json& value);

/// Joins words into one line for a POSIX shell and quotes those that need it.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);

/// Parses the arguments of `-p`, each KEY=VALUE, into a map. Throws misuse if `=` or the key is
/// missing, or if a key is given twice.
[[nodiscard]] std::map<std::string, std::string> parse_parameters(
    const std::vector<std::string>& arguments);

/// Splits "a,b,c" at its commas. A blank before the first part, by which the command line marks
/// negative numbers, is dropped. Throws misuse, in a message that names `what`, if a part is empty.
[[nodiscard]] std::vector<std::string> split_list(const std::string& text, const std::string& what);

// The parts of a call as they are typed: options of the command line, or keys of TOML.

/// Returns the fields `operator` (a call as one word), `parameters`, and one for each part. Their
/// help and the allowed names come from the tables.
[[nodiscard]] std::vector<JobField> call_word_fields();

/// Takes the values of these fields out of `typed` and returns their call. Throws misuse if there
/// is neither a similarity nor an operator, and if the operator contradicts another part. Names
/// and keys are checked by `resolve`.
[[nodiscard]] Call take_call(FieldValues& typed);

}  // namespace conelab
