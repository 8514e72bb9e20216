// The fields of jobs that read q, k and v, and how they become an AttendJob.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/study/attend_job.h"
#include "core/study/job_input.h"

namespace conelab {

bool AttendJob::keeps(const std::string& what) const {
  return std::ranges::find(keep, what) != keep.end();
}

const std::vector<std::string>& attend_parts() {
  static const std::vector<std::string> parts = {"output", "lse",       "weights",
                                                 "logits", "gradients", "determinant"};
  return parts;
}

JobField input_field() {
  return {"input", "INPUT", "q, k, v: FILE.h5, FILE.h5:/group, FILE.npz or FILE.safetensors",
          FieldKind::input};
}

JobField output_field(const std::string& about) {
  return {.name = "output",
          .option = "-o,--output",
          .about = about,
          .kind = FieldKind::output,
          .required = true,
          .changes_result = false};
}

JobField call_field() { return {"call", "", "", FieldKind::call}; }

JobField lengths_field() {
  return {"lengths", "--lengths",
          "for --mask padding: keys that are not padding, one per batch element", FieldKind::list};
}

JobField threads_field() {
  return {.name = "threads",
          .option = "--threads",
          .about = "threads; default: all cores",
          .kind = FieldKind::integer,
          .changes_result = false,
          .least = 1,
          .most = 4096};
}

std::vector<std::string> trace_sources(const JobSpec&) { return {"dataset", "embed", "train"}; }
std::vector<std::string> hierarchy_sources(const JobSpec&) { return {"dataset", "embed", "train"}; }

void add_reading_fields(JobKind& kind) {
  const JobField fields[] = {
      {.name = "allow_external",
       .option = "--allow-external",
       .about = "follow links and storage out of the input file",
       .kind = FieldKind::flag},
      {.name = "bf16",
       .option = "--bf16",
       .about = "an array whose elements of 2 bytes are bf16, --bf16 again for the next",
       .kind = FieldKind::texts},
      {.name = "axes",
       .option = "--axes",
       .about = "the order of the axes of q, k and v: batch, head, token, feature, with commas"}};
  kind.fields.insert(kind.fields.end(), std::begin(fields), std::end(fields));
}

Reading reading_of(const JobSpec& spec) {
  return {spec.flag("allow_external"), spec.list("bf16"), spec.text("axes")};
}

void add_reading(const Reading& reading, JobSpec& spec) {
  if (reading.allow_external) spec.values["allow_external"] = true;
  if (!reading.bf16.empty()) spec.values["bf16"] = reading.bf16;
  if (!reading.axes.empty()) spec.values["axes"] = reading.axes;
}

AttendJob attend_of(const JobSpec& spec) {
  AttendJob job;
  job.input = spec.text("input");
  job.output = spec.text("output");
  job.query = spec.text("q"), job.key = spec.text("k"), job.value = spec.text("v");
  if (spec.given("head")) job.head = spec.integer("head");
  job.call = spec.call();
  job.key_lengths = parse_key_lengths(spec.list("lengths"));
  if (spec.given("dtype")) job.dtype = dtype_from_name(spec.text("dtype"));
  if (spec.given("device")) job.device = spec.text("device");
  job.threads = static_cast<int>(spec.integer("threads"));
  for (const std::string& part : spec.list("keep")) {
    if (!job.keeps(part)) job.keep.push_back(part);
  }
  static_cast<Reading&>(job) = reading_of(spec);
  return job;
}

}  // namespace conelab
