#include <fmt/ranges.h>
#include <unistd.h>

#include <QDir>
#include <QStandardPaths>
#include <filesystem>

#include "app/bench_setup.h"
#include "app/desktop_backends.h"
#include "core/base/environment.h"
#include "core/study/attend_job.h"
#include "core/study/call_json.h"
#include "core/study/figure_request.h"
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
  return {choice.name, choice.inputs, choice.parameters, choice.width, {.cancelled = cancelled}};
}

figure::DisplayList draw(const desktop::FigureChoice& choice,
                         const std::function<bool()>& cancelled) {
  return draw_figure(request_of(choice, cancelled));
}

std::string figure_command(const desktop::FigureChoice& choice) {
  std::vector<std::string> words = figure_words(request_of(choice));
  words.insert(words.end(), {"-o", choice.name + ".pdf"});
  return shell_line(words);
}

AttendJob job_of(const desktop::TraceChoice& trace, const Call& call) {
  AttendJob job;
  job.input = trace.group.empty() ? trace.file : trace.file + ":" + trace.group;
  job.output = operator_name(call) + ".h5";
  job.call = call;
  job.query = trace.arrays.query, job.key = trace.arrays.key, job.value = trace.arrays.value;
  if (makes_heads(call)) job.head = trace.head;  // It takes tokens of one head.
  return job;
}

std::string attend_line(const desktop::TraceChoice& trace, const Call& call) {
  AttendJob job = job_of(trace, call);
  job.device = trace.device;
  job.keep = {"output", "lse", "weights"};
  return shell_line(attend_command(job));
}

std::string cell_line(const desktop::TraceChoice& trace, const Call& call,
                      const std::string& quantity) {
  AttendJob job = job_of(trace, call);
  job.dtype = Dtype::f64;
  job.device = "cpu";
  job.keep.push_back(quantity);
  return shell_line(attend_command(job));
}

// ---- benchmarks ---------------------------------------------------------------------------------

void run_sweep(const Sweep& sweep, const BenchOptions& options) {
  run_bench(sweep, bench_workload(), with_program(sweep, options));
}

std::string bench_line(const desktop::BenchChoice& typed, const std::string& output) {
  return shell_line(bench_command(typed, output));
}

/// Returns the folder of the user's documents, or the home folder.
std::string results_folder() {
  const QString documents = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return (QDir(documents).exists() ? documents : QDir::homePath()).toStdString();
}

desktop::BenchBackend bench_backend() {
  return {bench_workload().operations, results_folder(), run_sweep,
          [] { return std::vector<DeviceState>{cuda_backend().state()}; }, bench_line};
}

}  // namespace

desktop::Backends desktop_backends() {
  return {version(),
          shipped_trace(),
          draw,
          figure_command,
          attend_line,
          bench_backend(),
          [](const std::string& name) -> Backend* {
            return name == "cuda" ? &cuda_backend() : nullptr;
          },
          cell_line};
}

}  // namespace conelab
