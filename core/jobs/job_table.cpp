#include "core/jobs/job_table.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/sha256.h"
#include "core/files/atomic_file.h"
#include "core/files/read_tensors.h"
#include "core/job/call_json.h"
#include "core/jobs/job_input.h"
#include "core/jobs/tune.h"

namespace conelab {

// Each is defined in <name>_job.cpp.
JobKind attend_job();
JobKind bench_job();
JobKind dataset_job();
JobKind embed_job();
JobKind figure_job();
JobKind rank_job();
JobKind train_job();
JobKind tree_job();

namespace {

using Replace = std::function<Json(const std::string& file)>;

/// Returns the file or folder that the value of a parameter names, @W.npy, trace.h5:/group or
/// /data/folder; empty if none. A name without an ending and without a slash is a word.
std::string file_of_parameter(const std::string& value) {
  if (value.starts_with('@')) return value.substr(1);
  const std::filesystem::path path = parse_input_spec(value).path;
  std::error_code none;
  const bool slash = value.find('/') != std::string::npos;
  if (slash && std::filesystem::is_directory(path, none)) return value;
  const bool named = slash || path.has_extension();
  return named && std::filesystem::is_regular_file(path, none) ? value : "";
}

void replace_files(FieldKind kind, Json& json, const Replace& replace) {
  const auto replace_if = [&](Json& text, const std::string& file) {
    if (!file.empty()) text = replace(file);
  };
  switch (kind) {
    case FieldKind::input:
      return replace_if(json, json.get<std::string>());
    case FieldKind::array:
      return replace_if(json, file_of_parameter(json.get<std::string>()));
    case FieldKind::inputs:
      for (Json& entry : json) replace_if(entry, entry.get<std::string>());
      return;
    case FieldKind::call:
      return replace_files(FieldKind::parameters, json["parameters"], replace);
    case FieldKind::parameters:
      for (Json& value : json) {
        if (value.is_string()) replace_if(value, file_of_parameter(value.get<std::string>()));
      }
      return;
    default:
      return;
  }
}

Json without_files(const JobSpec& spec, const Replace& replace) {
  Json json = spec_to_json(spec);
  for (const JobField& field : spec.kind->fields) {
    if (json.contains(field.name)) replace_files(field.kind, json[field.name], replace);
  }
  return json;
}

}  // namespace

const std::vector<JobKind>& job_table() {
  static const std::vector<JobKind> table = {attend_job(), bench_job(), dataset_job(),
                                             embed_job(),  train_job(), rank_job(),
                                             tree_job(),   figure_job()};
  return table;
}

const JobKind& job_named(const std::string& name) { return row_named("job", job_table(), name); }

JobSpec spec_of_typed(const JobKind& kind, FieldValues typed) {
  JobSpec spec{&kind, {}};
  if (const JobField* call = find_field(kind, FieldKind::call)) {
    add_own_call(kind, typed);
    spec.values[call->name] = take_call(typed);
  }
  spec.values.merge(typed);
  return spec;
}

void check_spec(const JobSpec& spec) {
  for (const JobField& field : spec.kind->fields) {
    if (field.required && !spec.given(field.name)) misuse("{} is required", field.name);
  }
  if (spec.kind->check != nullptr) spec.kind->check(spec);
  if (find_field(*spec.kind, "tune") != nullptr) check_tune(spec);
  if (find_field(*spec.kind, "parameters") != nullptr && spec.kind->keys != nullptr) {
    const std::vector<std::string> known = spec.kind->keys(spec);
    for (const auto& [key, value] : spec.parameters()) {
      if (!contains(known, key)) unknown_name("key", key, known);
    }
  }
}

JobSpec spec_from_json(const Json& json) {
  if (!json.is_object() || !json.contains("command") || !json["command"].is_string()) {
    misuse("spec: is not a job");
  }
  JobSpec spec{&job_named(json["command"].get<std::string>()), {}};
  for (const auto& [name, value] : json.items()) {
    if (name == "command") continue;
    const JobField* field = find_field(*spec.kind, name);
    if (field == nullptr)
      unknown_name("member of " + spec.kind->name, name, names_of(spec.kind->fields));
    spec.values[name] = value_of_json(*field, value);
  }
  return spec;
}

namespace {

/// Returns the file that the job writes; empty if it writes none.
std::string output_of_job(const JobSpec& spec) {
  const JobField* field = find_field(*spec.kind, FieldKind::output);
  return field == nullptr ? "" : spec.text(field->name);
}

void keep_inputs(const JobSpec& spec, const std::string& output) {
  for (const std::string& file : files_read(spec)) {
    std::error_code none;  // A file that does not exist is no input that could be lost.
    if (std::filesystem::equivalent(parse_input_spec(file).path, output, none)) {
      misuse("{}: is an input too, and would be lost; give -o another name", output);
    }
  }
}

void claim_output(const JobSpec& spec, const std::string& output, const JobContext& context) {
  if (!spec.kind->result || output.empty()) return;
  if (context.ranks != nullptr && context.ranks->rank() > 0) return;  // Rank 0 writes it.
  check_replaceable_result(output, spec.kind->name, {.cancelled = context.cancelled});
  probe_writable(output);
}

/// Runs the job, with the values of the best of its trials if its keys are searched.
JobReport run_chosen(const JobSpec& spec, JobContext context) {
  if (trials_of(spec) == 0) return spec.kind->run(spec, context);
  const TuneChoice choice = choose_trial(spec, context);
  context.tune = &choice;
  return spec.kind->run(chosen_spec(spec, choice), context);
}

}  // namespace

JobReport run_job(const JobSpec& spec, const JobContext& context) {
  check_spec(spec);
  if (trials_of(spec) > 0 && !spec.given("trial")) {
    keep_inputs(spec, output_of_job(spec));
    claim_output(spec, output_of_job(spec), context);
    return run_job(with_trials(spec, context), context);
  }
  const std::string output = output_of_job(spec);
  keep_inputs(spec, output);
  std::vector<std::string> remarks;
  JobContext own = context;
  own.remark = [&](const std::string& text) {
    if (contains(remarks, text)) return;
    remarks.push_back(text);
    if (context.remark) context.remark(text);
  };
  try {
    claim_output(spec, output, own);
    JobReport report = run_chosen(spec, own);
    report.remarks = std::move(remarks);
    for (const auto& [name, value] : report.summary.items()) {
      if (value.is_number()) report.measures.try_emplace(name, value.get<double>());
    }
    return report;
  } catch (const Error& error) {
    const bool writes = find_field(*spec.kind, FieldKind::output) != nullptr;
    if (error.what() != std::string("interrupted") || !writes) throw;
    throw Error(error.kind(), output + ": interrupted; nothing was written");
  }
}

std::vector<std::string> files_read(const JobSpec& spec) {
  std::vector<std::string> files;
  (void)without_files(spec, [&](const std::string& file) {
    add_once(files, file);
    return Json(file);
  });
  return files;
}

std::string job_key(const JobSpec& spec,
                    const std::function<std::string(const std::string&)>& digest) {
  Json json = without_files(spec, [&](const std::string& file) -> Json {
    const InputSpec parsed = parse_input_spec(file);
    return {{"sha256", digest(parsed.path)}, {"group", parsed.group}};
  });
  json["version"] = spec.kind->version;
  return sha256(json_line(json));
}

}  // namespace conelab
