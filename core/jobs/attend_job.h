// The job `attend`: reads the input, computes, and writes the result (attend_job.cpp). Before
// anything is read, it checks that the output can be written. HDF5 is read in a child process.
//
// 16-bit numbers are rounded on input, computed in float and rounded once on output. Output, lse
// and gradients come from the job's device; weights and logits [n_q x n_k] always come from the
// CPU. Under "auto", if the device fails, the CPU takes over with a remark. The stages of progress
// are "forward", "backward", "determinant", "weights" and "logits".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "core/files/tensor_source.h"
#include "core/job/job_spec.h"
#include "core/operators/operator.h"

namespace conelab {

struct AttendJob : Reading {
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

  [[nodiscard]] bool keeps(const std::string& what) const;
};

/// Returns the names that `keep` may hold: "output", "lse", "weights", "logits", "gradients",
/// "determinant".
[[nodiscard]] const std::vector<std::string>& attend_parts();

/// Holds what the masks of a call hide.
struct HiddenPairs {
  std::int64_t rows = 0;               ///< Queries of all heads of all batch elements.
  std::int64_t rows_without_keys = 0;  ///< Those that see no key.
  /// Says whether the input's own mask lets queries see only keys after their own position.
  bool later_keys_only = false;
};

/// Returns the job of a spec, which may be of another kind with the same fields. Throws misuse for
/// values that cannot be parsed.
[[nodiscard]] AttendJob attend_of(const JobSpec& spec);

}  // namespace conelab
