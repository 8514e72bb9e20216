#include "core/jobs/shared_fields.h"

#include "core/jobs/job_table.h"

namespace conelab {

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

JobField hierarchy_field() {
  return {.name = "input",
          .option = "INPUT",
          .about = "a data set with a hierarchy, as of `conelab dataset`",
          .kind = FieldKind::input,
          .required = true};
}

JobField parameters_field(const std::string& about) {
  return {"parameters", "-p,--parameter", about, FieldKind::parameters};
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

JobField integer_field(const char* name, const char* about, const char* initial, std::int64_t least,
                       std::int64_t most) {
  JobField field{name, std::string("--") + name, about, FieldKind::integer, initial};
  field.least = least, field.most = most;
  return field;
}

std::vector<std::string> token_sources(const JobSpec&) {
  std::vector<std::string> names;
  for (const JobKind& kind : job_table()) {
    if (kind.tokens) names.push_back(kind.name);
  }
  return names;
}

JobKind with_reading_fields(JobKind kind) {
  kind.fields.insert(
      kind.fields.end(),
      {{"allow_external", "--allow-external", "follow links and storage out of the input file",
        FieldKind::flag},
       {"bf16", "--bf16", "an array whose elements of 2 bytes are bf16, --bf16 again for the next",
        FieldKind::texts},
       {"axes", "--axes",
        "the order of the axes of q, k and v: batch, head, token, feature, with commas"}});
  return kind;
}

Reading reading_of(const JobSpec& spec) {
  return {spec.flag("allow_external"), spec.list("bf16"), spec.text("axes")};
}

void add_reading(const Reading& reading, JobSpec& spec) {
  if (reading.allow_external) spec.values["allow_external"] = true;
  if (!reading.bf16.empty()) spec.values["bf16"] = reading.bf16;
  if (!reading.axes.empty()) spec.values["axes"] = reading.axes;
}

}  // namespace conelab
