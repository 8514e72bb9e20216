#include <fmt/ranges.h>
#include <unistd.h>

#include <QDesktopServices>
#include <QDir>
#include <QStandardPaths>
#include <QUrl>
#include <filesystem>

#include "app/command_job.h"
#include "app/desktop_backends.h"
#include "core/base/environment.h"
#include "core/bench/operator_case.h"
#include "core/study/bench_job.h"
#include "core/study/call_json.h"
#include "core/study/figure_job.h"
#include "core/study/job_table.h"
#include "core/study/shared_fields.h"
#include "gpu/cuda_backend.h"

namespace conelab {
namespace {

/// Returns the trace of the demonstration: from the share folder of the installed program, from the
/// folder beside the program, or from the source tree that it was built from. It is empty if there
/// is none.
std::string shipped_trace() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const std::filesystem::path& folder :
       {program.parent_path().parent_path() / "share" / "conelab", program.parent_path(),
        std::filesystem::path(CONELAB_SOURCE_DATA)}) {
    const std::filesystem::path file = folder / "minilm_trace.h5";
    if (std::filesystem::exists(file, error)) return file.string();
  }
  return "";
}

FigureRequest request_of(const desktop::FigureChoice& choice,
                         const std::function<bool()>& cancelled = {}) {
  return {choice.name, choice.inputs,           choice.parameters, choice.width,
          {},          {.cancelled = cancelled}};
}

figure::DisplayList draw(const desktop::FigureChoice& choice,
                         const std::function<bool()>& cancelled) {
  return draw_figure(request_of(choice, cancelled));
}

std::string figure_command(const desktop::FigureChoice& choice) {
  JobSpec spec = figure_spec(request_of(choice));
  spec.values["output"] = choice.name + ".pdf";
  return shell_line(command_words(spec));
}

JobSpec attend_spec(const desktop::TraceChoice& trace, const Call& call) {
  JobSpec spec{&job_named("attend"), {}};
  spec.values["input"] = trace.group.empty() ? trace.file : trace.file + ":" + trace.group;
  spec.values["output"] = operator_name(call) + ".h5";
  spec.values["call"] = call;
  const auto& [query, key, value, reading, weights] = trace.arrays;
  add_reading(reading, spec);
  for (const auto& [field, array] : {std::pair("q", query), {"k", key}, {"v", value}}) {
    if (!array.empty()) spec.values[field] = array;
  }
  if (makes_heads(call)) spec.values["head"] = trace.head;  // It takes tokens of one head.
  return spec;
}

std::string attend_line(const desktop::TraceChoice& trace, const Call& call) {
  JobSpec spec = attend_spec(trace, call);
  spec.values["device"] = trace.device;
  spec.values["keep"] = std::vector<std::string>{"output", "lse", "weights"};
  return shell_line(command_words(spec));
}

std::string cell_line(const desktop::TraceChoice& trace, const Call& call,
                      const std::string& quantity) {
  JobSpec spec = attend_spec(trace, call);
  spec.values["dtype"] = std::string("f64");
  spec.values["device"] = std::string("cpu");
  spec.values["keep"] = std::vector<std::string>{"output", "lse", quantity};
  return shell_line(command_words(spec));
}

// ---- benchmarks ---------------------------------------------------------------------------------

void run_sweep(const Sweep& sweep, const BenchOptions& options) {
  run_bench(sweep, operator_workload(), with_context(sweep, options, command_context()));
}

/// Writes every option out, so that the line does not depend on defaults; numbers as they are
/// typed.
std::string bench_line(const desktop::BenchChoice& typed, const std::string& output) {
  JobSpec spec{&job_named("bench"), {}};
  spec.values["output"] = output;
  for (const Axis& axis : axes()) spec.values[axis.option] = typed.labels[index_of(axis)];
  spec.values["batch"] = typed.batch, spec.values["rounds"] = typed.rounds;
  spec.values["controls"] = typed.controls, spec.values["seed"] = typed.seed;
  spec.values["time_limit"] = typed.time_limit, spec.values["warm_only"] = !typed.cold;
  return shell_line(command_words(spec));
}

/// Returns the folder of the user's documents, or the home folder.
std::string results_folder() {
  const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return (QDir(documents).exists() ? documents : QDir::homePath()).toStdString();
}

desktop::BenchBackend bench_backend() {
  return {operator_workload().operations, results_folder(), run_sweep,
          [] { return std::vector<DeviceState>{cuda_backend().state()}; }, bench_line};
}

}  // namespace

desktop::Backends desktop_backends() {
  return {shipped_trace(),
          draw,
          figure_command,
          attend_line,
          bench_backend(),
          [](const std::string& name) -> Backend* {
            return name == "cuda" ? &cuda_backend() : nullptr;
          },
          cell_line,
          {command_context(), {"/proc/self/exe", "job-worker"}},
          [](const QString& file) { return QDesktopServices::openUrl(QUrl::fromLocalFile(file)); }};
}

}  // namespace conelab
