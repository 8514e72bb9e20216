// From a file's arrays to the engine's input.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/attend_job.h"
#include "core/files/read_tensors.h"

namespace conelab {

/// "5,7": keys that are not padding, one number per batch element; none for an empty text. Throws
/// misuse for anything but whole numbers from 0.
[[nodiscard]] std::vector<std::int64_t> parse_key_lengths(const std::string& text);

/// Misuse where one of mask `padding` and the lengths comes without the other.
void check_key_lengths(const Call& call, const std::vector<std::int64_t>& lengths);

/// Refuses an output that is one of the inputs, or anything else than a result of the kind `kind`
/// that `command` writes; then probes that it can be written.
void claim_output(const AttendJob& job, const std::string& kind, const std::string& command);

/// Reads q, k, v, the tensors that the job's call reads beside them, and those of `also`, where
/// they are there, in a sandbox; throws interrupted where `cancelled` says so.
[[nodiscard]] Input read_attend_input(const AttendJob& job, const std::function<bool()>& cancelled,
                                      const std::vector<ParameterInfo>& also = {});

/// The tensors as T, which are taken out of `file`; where `dtype` is narrower than T, rounded. Each
/// tensor of the file is freed before the next is converted.
template <class T>
[[nodiscard]] AttentionInput<T> attention_input(Input&& file, Dtype dtype);

/// The job's call; the mask "explicit" added where the file holds a mask, "full" dropped.
[[nodiscard]] Call call_for_input(const AttendJob& job, const Input& input);

/// NaN and infinite numbers of q, k and v together.
struct NonFinite {
  std::int64_t nan = 0, infinite = 0;
};
[[nodiscard]] NonFinite count_non_finite(const Input& input);

}  // namespace conelab
