// `conelab attend`: attention over the tensors of a file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/call_options.h"
#include "app/command.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/run_job.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/study/attend_job.h"
#include "core/study/call_json.h"
#include "core/study/job_input.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

struct TypedAttend {
  AttendJob job;
  std::shared_ptr<CallOptions> call;
  std::string dtype, keep = "output,lse", lengths;
  bool json = false;
};

AttendJob job_of(const TypedAttend& typed) {
  AttendJob job = typed.job;
  job.call = typed.call->call();
  if (!typed.dtype.empty()) job.dtype = dtype_from_name(typed.dtype);
  job.key_lengths = parse_key_lengths(typed.lengths);
  for (const std::string& part : split_list(typed.keep, "--keep")) {
    if (!job.keeps(part)) job.keep.push_back(part);
  }
  if (job.input.empty() && job.query.empty()) {
    misuse("give INPUT, or --q (and --k, --v) with .npy files");
  }
  return job;
}

/// Returns " (k and v are q) under the input's mask". Without this text, the result of a call with
/// a forgotten key or mask would look plausible.
std::string given_text(const AttendJob& job, const AttendSummary& summary) {
  const auto& names = summary.from_query;
  std::string text;
  if (names.size() == 1) text = " (" + names.front() + " is q)";
  if (names.size() == 2) text = " (k and v are q)";
  if (!reads_keys(job.call)) text = " (q alone is read)";
  if (summary.own_mask) text += " under the input's mask";
  return text;
}

Json summary_json(const AttendJob& job, const AttendSummary& summary) {
  const Extents& e = summary.extents;
  return {{"output", job.output},
          {"kept", summary.kept},
          {"extents",
           {{"batch", e.batch},
            {"head", e.head},
            {"query", e.query},
            {"key", e.key},
            {"feature", e.feature},
            {"value", e.value},
            {"key_head", e.key_heads()}}},
          {"dtype", dtype_name(summary.dtype)},
          {"device", summary.device},
          {"from_query", summary.from_query},
          {"input_mask", summary.own_mask},
          {"nan", summary.nan_count},
          {"infinite", summary.infinite_count},
          {"rounded_to_infinity", summary.rounded_to_infinity},
          {"rows_without_keys", summary.hidden.rows_without_keys},
          {"output_not_finite", summary.bad_outputs},
          {"gradients_not_finite", summary.bad_gradients},
          {"compute_seconds", summary.compute_seconds},
          {"write_seconds", summary.write_seconds},
          {"spec", attend_to_json(job)},
          {"command", shell_line(attend_command(job))}};
}

int run(const TypedAttend& typed) {
  const AttendJob job = job_of(typed);
  const AttendSummary summary = run_with_bar(
      "attend", job.output, [&](const JobContext& context) { return run_attend(job, context); });
  if (typed.json) {
    print_json(summary_json(job, summary));
  } else {
    const Extents& e = summary.extents;
    const std::string heads = e.key_heads() == e.head
                                  ? fmt::format("{} head(s)", e.head)
                                  : fmt::format("{} heads on {}", e.head, e.key_heads());
    say("{}: {} of {} attention, {} x {}, {} queries x {} keys{}, {} on {}; computed in "
        "{}, written in {}",
        job.output, join(summary.kept), operator_name(job.call), e.batch, heads, e.query, e.key,
        given_text(job, summary), dtype_name(summary.dtype), summary.device,
        duration_text(summary.compute_seconds), duration_text(summary.write_seconds));
  }
  return 0;
}

}  // namespace

Action declare_attend(CLI::App& options) {
  const auto typed = std::make_shared<TypedAttend>();
  AttendJob& job = typed->job;
  options.add_option("INPUT", job.input,
                     "q, k, v: FILE.h5, FILE.h5:/group, FILE.npz or FILE.safetensors");
  options.add_option("-o,--output", job.output, "the HDF5 file to write")->required();
  typed->call = declare_call(options);
  options.add_option("--q", job.query, "name of q in INPUT, or a .npy file");
  options.add_option("--k", job.key, "the same for k; default: q where absent");
  options.add_option("--v", job.value, "the same for v; default: q where absent");
  options.add_option("--head", job.head, "the only head of q, k and v that is read; default: all");
  options.add_option("--lengths", typed->lengths,
                     "for --mask padding: keys that are not padding, one per batch element");
  options
      .add_option(
          "--keep", typed->keep,
          "what to write: weights, logits, gradients, determinant (of d output / d q); output "
          "and lse always are")
      ->capture_default_str();
  options.add_option("--device", job.device, "cpu, cuda or auto")->capture_default_str();
  options.add_option("--dtype", typed->dtype,
                     "f64, f32, bf16 or f16; default: f64 for f64 input, else f32");
  options.add_option("--threads", job.threads, "threads; default: all cores")
      ->check(CLI::Range(1, 4096));
  options.add_flag("--allow-external", job.allow_external,
                   "follow links and storage out of the input file");
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

}  // namespace conelab
