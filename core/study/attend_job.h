// The job `attend`: read the input, compute, write the result.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "core/operators/operator.h"
#include "core/study/job.h"

namespace conelab {

struct AttendJob {
  std::string input;                 ///< FILE or FILE.h5:/group; empty if q, k, v name .npy files.
  std::string output;                ///< The HDF5 file to write.
  std::string query, key, value;     ///< Names of arrays, or .npy files; empty: q, k, v.
  std::optional<std::int64_t> head;  ///< The only head of the input that is read; absent: all.
  Call call;
  std::vector<std::int64_t> key_lengths;  ///< [batch] for the mask `padding`, else empty.
  std::optional<Dtype> dtype;             ///< Absent: f64 for input of f64, else f32.
  std::string device = "auto";            ///< "cpu", "cuda" or "auto".
  int threads = 0;                        ///< 0: all cores.
  /// The parts of `attend_parts` that the result contains. The output is always written, and lse if
  /// the operator has logits.
  std::vector<std::string> keep = {"output", "lse"};
  bool allow_external = false;  ///< Whether HDF5 links and storage may lead out of the input.

  [[nodiscard]] bool keeps(const std::string& what) const;
};

/// Returns the names that `keep` may hold: "output", "lse", "weights", "logits", "gradients",
/// "determinant".
[[nodiscard]] const std::vector<std::string>& attend_parts();

/// What the masks of a call hide.
struct HiddenPairs {
  std::int64_t rows = 0;               ///< Queries of all heads of all batch elements.
  std::int64_t rows_without_keys = 0;  ///< Those that see no key.
  /// Whether the input's own mask lets queries see only keys after their own position.
  bool later_keys_only = false;
};

/// What a finished job did.
struct AttendSummary {
  Extents extents;
  Dtype dtype = Dtype::f32;
  std::string device = "cpu";  ///< Where the output was computed: "cpu" or "cuda".
  double compute_seconds = 0;
  double write_seconds = 0;
  /// Which of "k" and "v" are absent from the file; q is used in their place.
  std::vector<std::string> from_query;
  /// The parts that were written. An operator may not have all that were wanted.
  std::vector<std::string> kept;
  bool own_mask = false;       ///< Whether a mask that the input contains was applied.
  bool mask_left_out = false;  ///< Whether it contains one that the operator does not take.
  std::int64_t nan_count = 0;  ///< Numbers of the input that are NaN.
  std::int64_t infinite_count = 0;
  std::vector<std::string> non_finite_arrays;  ///< The arrays that hold them.
  std::int64_t rounded_to_infinity = 0;        ///< Finite numbers that were rounded.
  std::int64_t outputs = 0;                    ///< Numbers of the output.
  std::int64_t bad_outputs = 0;                ///< Numbers of the output that are not finite.
  /// Numbers of the gradients, parameters included, that are not finite.
  std::int64_t bad_gradients = 0;
  HiddenPairs hidden;  ///< What the masks hide.
};

/// Reads the input (HDF5 in a child process), computes, and writes the output whole or not at all.
/// Before anything is read, it checks that the output can be written.
///
/// 16-bit numbers are rounded on input, computed in float and rounded once on output. Output, lse
/// and gradients come from the job's device; weights and logits [n_q x n_k] always come from the
/// CPU. Under "auto", if the device fails, the CPU takes over with a remark. The stages of progress
/// are "forward", "backward", "determinant", "weights" and "logits".
///
/// Throws misuse for a wrong call, a failure for input that cannot be read or output that cannot be
/// written, and interrupted once the context wants the job to stop.
[[nodiscard]] AttendSummary run_attend(const AttendJob& job, const JobContext& context);

/// Returns the job as JSON without its output. The result stores it as the attribute `spec`.
[[nodiscard]] nlohmann::ordered_json attend_to_json(const AttendJob& job);
/// Returns the words of the command line that runs this job.
[[nodiscard]] std::vector<std::string> attend_command(const AttendJob& job);

}  // namespace conelab
