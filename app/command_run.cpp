// `conelab run`: runs the jobs of a study, on this machine or as a shard of a cluster's array.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/command_job.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "app/progress.h"
#include "core/base/duration.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/bench/summary.h"
#include "core/files/atomic_file.h"
#include "core/study/job_worker.h"
#include "core/study/slurm_script.h"
#include "core/study/study_run.h"

namespace conelab {
namespace {

namespace fs = std::filesystem;

struct TypedRun {
  std::string study, output, shard, slurm;
  std::vector<std::string> inputs;  ///< NAME=FILE
  int jobs = 0;
  bool dry = false, quick = false, json = false;
};

std::string folder_of(const TypedRun& typed) {
  return typed.output.empty() ? fs::path(typed.study).stem().string() : typed.output;
}

StudyInputs inputs_of(const TypedRun& typed) {
  StudyInputs inputs;
  for (const std::string& text : typed.inputs) {
    const std::size_t sign = text.find('=');
    const std::string name = text.substr(0, sign);
    if (sign == std::string::npos || name.empty() || sign + 1 == text.size()) {
      misuse("--input {}: expected NAME=FILE, the name of a data set of the study and a file",
             text);
    }
    const std::string file = fs::absolute(text.substr(sign + 1)).lexically_normal().string();
    if (!inputs.emplace(name, file).second) misuse("--input {}: {} is given twice", text, name);
  }
  return inputs;
}

std::int64_t number_in(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : parse_integer(text).value_or(otherwise);
}

/// Sets the shard that was typed, or that of the array of Slurm in which the program runs.
void set_shard(const TypedRun& typed, StudyOptions& options) {
  std::int64_t shard = 1, shards = 1;
  if (!typed.shard.empty()) {
    const std::vector<std::string_view> parts = split_at(typed.shard, '/');
    shard = parse_integer(parts.front()).value_or(0);
    shards = parts.size() == 2 ? parse_integer(parts.back()).value_or(0) : 0;
  } else if (const std::int64_t count = number_in("SLURM_ARRAY_TASK_COUNT", 0); count > 0) {
    shards = count;
    shard = number_in("SLURM_ARRAY_TASK_ID", 1) - number_in("SLURM_ARRAY_TASK_MIN", 1) + 1;
  }
  if (shard < 1 || shard > shards || shards > 1'000'000) {
    misuse("--shard {}: expected I/N with 1 <= I <= N, as 2/8", typed.shard);
  }
  options.shared = shards > 1 || !typed.shard.empty();
  options.shard = static_cast<int>(shard);
  options.shards = static_cast<int>(shards);
}

int print_errors(const Study& study) {
  for (const StudyError& error : study.errors) {
    print_error(fmt::format("{}:{}: {}", study.path, error.line, error.text));
  }
  return static_cast<int>(ErrorKind::usage);
}

std::string seconds_text(double seconds) {
  return std::isfinite(seconds) ? "~" + duration_text(seconds) : "?";
}

/// Prints the jobs of the chosen shard.
int print_plan(const Study& study, const StudyIndex& index, const TypedRun& typed) {
  StudyOptions options;
  set_shard(typed, options);
  const std::vector<bool> own = jobs_of_shard(study, options.shard, options.shards);
  const std::vector<double> seconds = predicted_seconds(study, index);
  TextTable table{{"job", "kind", "state", "time"}, {}};
  double sum = 0;
  int unknown = 0, done = 0;
  for (std::size_t i = 0; i < index.jobs.size(); ++i) {
    const JobRecord& job = index.jobs[i];
    if (!own[i]) continue;
    table.rows.push_back({job.name, job.kind, job.done() ? "done" : "to do",
                          job.done() ? duration_text(job.seconds) : seconds_text(seconds[i])});
    done += job.done();
    if (job.done()) continue;
    std::isfinite(seconds[i]) ? void(sum += seconds[i]) : void(++unknown);
  }
  if (typed.json) {
    StudyIndex chosen = index;
    chosen.jobs.clear();
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i]) chosen.jobs.push_back(index.jobs[i]);
    }
    auto json = index_to_json(chosen);
    json["predicted_seconds"] = sum;
    json["unpredicted_jobs"] = unknown;
    print_json(json);
    return 0;
  }
  for (const std::string& line : table_lines(table)) say("{}", line);
  const auto count = static_cast<int>(table.rows.size()), left = count - done;
  std::string time;
  if (left > unknown) time = ", about " + duration_text(sum) + " for the others";
  if (unknown > 0) time += fmt::format(", {} of unknown time", unknown);
  say("{}: {} jobs, {} done{}", study.path, count, done, time);
  return 0;
}

int write_slurm(const Study& study, const TypedRun& typed) {
  if (!typed.shard.empty()) misuse("--shard: the tasks of --slurm are the shards");
  constexpr int usual_tasks = 16;
  const int wanted = typed.jobs > 0 ? typed.jobs : usual_tasks;
  const SlurmJob job{fs::read_symlink("/proc/self/exe").string(),
                     fs::absolute(typed.study).string(),
                     fs::absolute(folder_of(typed)).lexically_normal().string(),
                     std::min(wanted, most_shards(study)),
                     typed.quick,
                     inputs_of(typed)};
  check_replaceable_script(typed.slurm, slurm_mark, "a script of `conelab run --slurm`");
  fs::create_directories(job.folder);
  write_text_atomically(typed.slurm, slurm_script(job));
  say("{}: an array of {} tasks for {} jobs; submit it with: sbatch {}", typed.slurm, job.tasks,
      study.jobs.size(), typed.slurm);
  return 0;
}

/// Prints how the jobs of the shard have ended.
int print_result(const Study& study, const StudyIndex& index, const StudyOptions& options,
                 bool in_json) {
  const std::vector<bool> own = jobs_of_shard(study, options.shard, options.shards);
  const std::size_t failed = index.count("failed", own);
  if (in_json) {
    print_json(index_to_json(index));
    return failed > 0 ? 1 : 0;
  }
  const bool shards = options.shards > 1;
  std::string text = fmt::format("{} of {} jobs{} done", index.count("done", own),
                                 std::ranges::count(own, true), shards ? " of this shard" : "");
  for (const char* status : {"failed", "waiting", "pending"}) {
    if (const std::size_t count = index.count(status, own); count > 0) {
      text += fmt::format(", {} {}", count, status);
    }
  }
  if (shards) text += fmt::format("; of all jobs {} of {}", index.count("done"), own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const JobRecord& job = index.jobs[i];
    if (own[i] && job.status == "failed") say("failed {}: {}", job.name, job.error);
    if (own[i] && job.status == "waiting") {
      say("waiting {}: a job that it reads is not done", job.name);
    }
  }
  say("{}: {}", options.folder, text);
  return failed > 0 ? 1 : 0;
}

int run_whole(const Study& study, const TypedRun& typed) {
  StudyOptions options{.folder = folder_of(typed), .at_once = std::max(1, typed.jobs)};
  set_shard(typed, options);
  Progress bar("run");
  StudyContext context{.job = command_context(), .worker = {"/proc/self/exe", "job-worker"}};
  context.progress = [&](const StudyProgress& now) {
    bar.update(now.fraction, now.text, now.seconds);
  };
  context.ended = [&](const std::string& line) {
    bar.clear();
    if (!typed.json) say("{}", line);
  };
  try {
    const StudyIndex index = run_study(study, options, context);
    bar.clear();
    return print_result(study, index, options, typed.json);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    throw Error(error.kind(), options.folder +
                                  ": interrupted; finished jobs are kept, and the same command "
                                  "goes on with the others");
  }
}

int run_study_command(const TypedRun& typed) {
  const Study study = read_study(typed.study, typed.quick, inputs_of(typed));
  if (!study.errors.empty()) return print_errors(study);
  if (typed.dry) return print_plan(study, plan_study(study, folder_of(typed), interrupted), typed);
  if (!typed.slurm.empty()) return write_slurm(study, typed);
  return run_whole(study, typed);
}

}  // namespace

Action declare_run(CLI::App& options) {
  const auto typed = std::make_shared<TypedRun>();
  options.add_option("SPEC", typed->study, "the study, a file of TOML (`conelab help studies`)")
      ->required();
  options.add_option("-o,--output", typed->output,
                     "the folder of its results; default: the study's name without its ending");
  options
      .add_option("--input", typed->inputs,
                  "a file in the place of the data set NAME; --input again for the next")
      ->option_text("NAME=FILE")
      ->allow_extra_args(false);
  options.add_flag("--dry-run", typed->dry, "check everything and list the jobs; run nothing");
  options.add_flag("--quick", typed->quick, "with the smaller values that the study names");
  options
      .add_option("--jobs", typed->jobs,
                  "jobs beside each other; default: 1. With --slurm: tasks; default: at most 16")
      ->check(CLI::Range(1, 4096));
  options.add_option("--shard", typed->shard,
                     "I/N: the I-th of N parts of the jobs; default: the task of Slurm's array");
  options.add_option("--slurm", typed->slurm, "write a script for sbatch; run nothing");
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run_study_command(*typed); };
}

Action declare_job_worker(CLI::App&) {
  return [] { return run_job_worker(command_context()); };
}

}  // namespace conelab
