// Reads the input of `attend`: turns a file's arrays into the tensors of a call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/files/read_tensors.h"
#include "core/jobs/attend_job.h"

namespace conelab {

/// Throws misuse if the call has the mask `padding` but no lengths, or lengths without that mask.
void check_key_lengths(const Call& call, const std::vector<std::int64_t>& lengths);

/// Returns the keys of `-p` under the spec's call. Throws misuse for an unknown operator or part.
[[nodiscard]] std::vector<std::string> call_keys(const JobSpec& spec);

/// Checks the head and the call of a spec against the sizes that its input has, without reading
/// numbers; nothing if it has no input. Throws a failure if the input has no q, or if its arrays do
/// not fit, and misuse for a head that it does not have and for wrong values of parameters. Tensors
/// that are parameters are left unchecked.
void check_declared_input(const JobSpec& spec);

/// If neither a similarity nor an operator is typed for a job that takes a call, or the similarity
/// of the input's own operator (own_call of core/trace/trace.h), adds what of this operator is not
/// typed.
void add_own_call(const JobKind& kind, FieldValues& typed);

/// Reads q, k and v in a sandbox, and, if the file has them, the tensors that the job's call reads
/// in addition. Remarks on what of the file is left out. Throws interrupted once the context wants
/// the job to stop.
[[nodiscard]] Input read_attend_input(const AttendJob& job, const JobContext& context);

/// Leaves one head of an input, and returns the call of this head alone: its results are those that
/// the whole input gives it. A call that makes heads is returned as it is, and its tensors keep
/// their axis of heads; others lose it. Throws misuse if the input does not have the head.
template <class T>
[[nodiscard]] Call keep_head(const Call& call, std::int64_t head, AttentionInput<T>& input);

/// Returns the job's call for this input: if the file holds a mask, the mask "explicit" is added
/// and "full" is dropped.
[[nodiscard]] Call call_for_input(const AttendJob& job, const Input& input);

/// Returns what the masks of a call hide.
template <class T>
[[nodiscard]] HiddenPairs hidden_pairs(const Plan& plan, const AttentionInput<T>& input);
/// Remarks on rows that see no key, and on a mask that was probably meant in the opposite sense.
void remark_hidden_pairs(const HiddenPairs& hidden, const JobContext& context);

/// How many numbers of all tensors of the input are not finite, and which arrays hold them.
struct NonFinite {
  std::int64_t nan = 0, infinite = 0;
  std::vector<std::string> arrays;
};
[[nodiscard]] NonFinite count_non_finite(const Input& input);

}  // namespace conelab
