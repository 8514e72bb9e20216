#include "app/command_job.h"

#include <CLI/CLI.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/desktop.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/ranks.h"
#include "core/base/error.h"
#include "core/job/call_json.h"
#include "core/jobs/job_table.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

struct TypedField {
  JobField field;
  CLI::Option* option = nullptr;
  std::string text = {};
  std::vector<std::string> texts = {};
  bool flag = false;
};

struct TypedJob {
  const JobKind* kind = nullptr;
  std::deque<TypedField> fields;  ///< The options keep pointers to its elements.
  bool json = false;
};

std::string type_text(const JobField& field) {
  if (field.kind == FieldKind::number) return "FLOAT";
  if (field.kind == FieldKind::optional_text) return "[FILE]";
  if (field.kind != FieldKind::integer) return "TEXT";
  const bool in_range = field.least > 0 && field.most < std::numeric_limits<std::int64_t>::max();
  return in_range ? fmt::format("INT in [{} - {}]", field.least, field.most) : "INT";
}

void declare(TypedField& typed, CLI::App& options) {
  const JobField& field = typed.field;
  if (field.kind == FieldKind::flag) {
    typed.option = options.add_flag(field.option, typed.flag, field.about);
    return;
  }
  const bool repeated = field.kind == FieldKind::texts || field.kind == FieldKind::inputs ||
                        field.kind == FieldKind::parameters;
  if (repeated) {
    typed.option = options.add_option(field.option, typed.texts, field.about);
    typed.option->allow_extra_args(false);
    if (field.kind == FieldKind::parameters) typed.option->option_text("KEY=VALUE");
    return;
  }
  typed.option = options.add_option(field.option, typed.text, field.about);
  typed.option->type_name(type_text(field))->required(field.required);
  if (!field.initial.empty()) typed.option->default_str(field.initial);
  if (field.kind == FieldKind::optional_text) typed.option->expected(0, 1);
}

/// Returns the text without the blank that marks a number which begins with a minus sign.
std::string plain_text(const std::string& text) {
  const std::string plain(unshielded(text));
  return shield_number(plain) == text ? plain : text;
}

FieldValue value_of(const TypedField& typed, const JobKind& kind) {
  const JobField& field = typed.field;
  if (field.kind == FieldKind::flag) return typed.flag;
  if (field.kind == FieldKind::parameters) return parse_parameters(typed.texts);
  if (!typed.texts.empty()) return typed.texts;
  try {
    return value_of_text(field, plain_text(typed.text));
  } catch (const Error& error) {
    const std::string why = error.what(), option = field.printed_option();
    if (!option.empty() && why.starts_with(option)) throw;
    misuse("{}: wrong value ({}; see `conelab {} --help`)", option, why, kind.name);
  }
}

JobSpec spec_of(const TypedJob& typed) {
  FieldValues values;
  for (const TypedField& field : typed.fields) {
    if (field.option->count() > 0) values[field.field.name] = value_of(field, *typed.kind);
  }
  return spec_of_typed(*typed.kind, std::move(values));
}

/// Returns the ranks that mpirun has started, or null if the job is computed by this process alone.
std::unique_ptr<JobRanks> ranks_of(const JobKind& kind) {
  const int size = launched().size;
  if (size > 1 && !kind.ranks) {
    const char* instead =
        kind.name == std::string("bench") ? "; without mpirun, --ranks 1,2 starts the ranks" : "";
    misuse("{} is computed by one process (mpirun started {}{})", kind.name, size, instead);
  }
  return size > (has_mpi() ? 0 : 1) && kind.ranks ? join_ranks() : nullptr;
}

int run_alone(const TypedJob& typed, Ranks* ranks) {
  const JobSpec spec = spec_of(typed);
  if (const JobField* field = find_field(*typed.kind, FieldKind::output); field && typed.json) {
    const std::string output = spec.text(field->name);
    if (output == "-" || output == "/dev/stdout") {
      misuse("--json and -o {} both print on standard output (give only one)", output);
    }
  }
  Progress bar(typed.kind->name);
  std::optional<double> left;
  JobContext context = command_context();
  context.ranks = ranks;
  context.seconds_left = [&](double seconds) { left = seconds; };
  context.progress = [&](const char* stage, double done) {
    if (!is_silent()) bar.update(done, stage, left);
  };
  context.remark = [&](const std::string& text) {
    bar.clear();
    print_warning(text);
  };
  const JobReport report = run_job(spec, context);
  bar.clear();
  if (typed.json) {
    print_json(report.summary);
  } else {
    for (const std::string& line : report.lines) say("{}", line);
  }
  return 0;
}

int run(const TypedJob& typed) {
  const std::unique_ptr<JobRanks> ranks = ranks_of(*typed.kind);
  if (!ranks) return run_alone(typed, nullptr);
  try {
    const int status = run_alone(typed, ranks.get());
    finish_output();
    ranks->leave();
    return status;
  } catch (...) {
    ranks->end_all();
  }
  return 1;  // It is not reached.
}

}  // namespace

JobContext command_context() {
  return {.cancelled = interrupted,
          .remark = print_warning,
          .cuda = &cuda_backend(),
          .worker = {"/proc/self/exe", "bench-worker"},
          .write_png = png_writer()};
}

Action declare_job(const JobKind& kind, CLI::App& options) {
  const auto typed = std::make_shared<TypedJob>();
  typed->kind = &kind;
  for (const JobField& field : typed_fields(kind)) {
    declare(typed->fields.emplace_back(TypedField{field}), options);
  }
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run(*typed); };
}

}  // namespace conelab
