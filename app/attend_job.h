// The work behind `conelab attend`, apart from how it was asked for: read, compute, write.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "core/tiles/attention.h"

namespace conelab {

struct AttendJob {
  std::string input;              ///< FILE, FILE.h5:/group; empty where q, k, v name .npy files.
  std::string output;             ///< The HDF5 file to write.
  std::string query, key, value;  ///< Names of the arrays, or .npy files; empty: q, k, v.
  Call call;
  std::vector<std::int64_t> key_lengths;  ///< For mask `padding`: one per batch element.
  std::optional<Dtype> dtype;             ///< None: f64 for f64 input, else f32.
  std::string device = "auto";            ///< cpu, cuda or auto.
  int threads = 0;                        ///< 0: all cores.
  /// What is written; output and lse always are.
  std::vector<std::string> keep = {"output", "lse"};
  bool allow_external = false;  ///< Follow HDF5 links and storage out of the input.

  [[nodiscard]] bool keeps(const std::string& what) const;
};

/// What `keep` may name.
[[nodiscard]] const std::vector<std::string>& attend_parts();

/// What became of a job.
struct AttendSummary {
  Extents extents;
  Dtype dtype = Dtype::f32;
  std::string device = "cpu";  ///< Where it was computed: "cpu" or "cuda".
  double compute_seconds = 0;
  double write_seconds = 0;
  std::vector<std::string>
      from_query;              ///< Of "k" and "v" those that q stands for: they are absent.
  bool own_mask = false;       ///< Whether a mask of the input's own was applied.
  std::int64_t nan_count = 0;  ///< In the input.
  std::int64_t infinite_count = 0;
  std::int64_t rounded_to_infinity = 0;  ///< Of the input's finite numbers.
  std::int64_t bad_outputs = 0;          ///< Numbers of the output that are not finite.
  std::int64_t bad_gradients = 0;        ///< Those of q, k, v and parameters.
};

/// Told how far which stage ("forward", "backward", "weights", "logits") is, from any thread.
using StageProgress = std::function<void(const char* stage, double fraction)>;

/// Reads the input in a sandbox, computes, writes the output whole or not at all. The output is
/// probed first. 16-bit numbers are rounded on input, stored so, computed in float and
/// rounded once on output. Output, lse and gradients come from the job's device, maps of weights
/// and logits from the CPU; under `auto` a device that fails hands over to the CPU with a warning.
/// Throws as its parts do; interrupted where `cancelled` says so.
[[nodiscard]] AttendSummary run_attend(const AttendJob& job, const std::function<bool()>& cancelled,
                                       const StageProgress& progress);

/// The job as JSON without its output: what the result keeps as `spec`.
[[nodiscard]] nlohmann::ordered_json attend_to_json(const AttendJob& job);
/// The equivalent command line, as words.
[[nodiscard]] std::vector<std::string> attend_command(const AttendJob& job);

}  // namespace conelab
