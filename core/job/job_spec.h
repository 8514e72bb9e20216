// A job as data: its kind, which is a row of job_table.h, and the values of its fields.
//
// The command line, the desktop, studies and reports write a JobSpec; `run_job`
// (core/jobs/job_table.h) runs it. As JSON it is stored in result files, as words it is the command
// that does the same.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/ranks.h"
#include "core/base/tensor.h"
#include "core/job/job_field.h"
#include "core/tiles/backend.h"

namespace conelab {

namespace figure {
struct DisplayList;
}
struct TuneChoice;  // core/jobs/tune.h

/// Holds what a job is given besides its own fields by whoever runs it: a command, the desktop, a
/// study.
struct JobContext {
  /// Polled often; once it returns true, the job throws interrupted. Empty: never.
  std::function<bool()> cancelled = {};
  /// Receives a stage ("forward", "weights", ...) and the fraction of it that is done, in [0, 1].
  /// It is called from any thread. Empty: nobody listens.
  std::function<void(const char* stage, double fraction)> progress = {};
  /// Receives what the user should know of a job that goes on, one line each. Empty: dropped.
  std::function<void(const std::string& text)> remark = {};
  /// Asked after each step of a job that can be paused, from any thread: how many snapshots it may
  /// make since it was paused; -1: it is not paused. Empty: it is never paused.
  std::function<std::int64_t()> allowed = {};
  /// Receives what a job that is watched has reached, at most some 20 times a second, from any
  /// thread; its members are those of the job (training_record.h). Empty: nobody watches.
  std::function<void(const Json& now)> live = {};
  Backend* cuda = nullptr;  ///< Null: the program has no such device.
  Ranks* ranks = nullptr;   ///< The processes that compute the job together. Null: this one alone.
  /// Receives the seconds that a job has left, before `progress`, if the job knows better than by a
  /// constant pace; NaN: unknown. Empty: nobody listens.
  std::function<void(double seconds)> seconds_left = {};
  /// The command that starts a worker of benchmarks; its first word is a path.
  std::vector<std::string> worker = {};
  /// Writes a figure as PNG. Empty: the program cannot.
  std::function<void(const figure::DisplayList& list, const std::string& path)> write_png = {};
  /// Endings of files beside the output in which a figure is written as well: ".pdf".
  std::vector<std::string> also = {};
  const TuneChoice* tune = nullptr;  ///< What was chosen among trials, if there are.

  /// Returns how the job computes: on so many threads (0: all cores), until it is cancelled. Its
  /// fraction done is reported as that of `stage`, unless this is null.
  [[nodiscard]] Execution execution(std::int64_t threads = 0, const char* stage = nullptr) const;
  /// Formats a remark and hands it on.
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) const {
    if (remark) remark(fmt::format(format, std::forward<Args>(args)...));
  }
};

/// Returns the backend for `word`, which is "cpu", "cuda" or "auto", or null for the CPU. If the
/// device cannot be used or cannot compute `dtype`, "cuda" throws a failure that says why, and
/// "auto" returns null. Throws misuse for other words.
[[nodiscard]] Backend* choose_device(const std::string& word, Dtype dtype,
                                     const JobContext& context);

/// Remarks if `word` is "auto" and there seems to be a device that cannot be used, for example with
/// a driver that is too old.
void remark_unusable_device(const std::string& word, const JobContext& context);

struct JobKind;

/// Values by the name of their field. Fields that are absent have their defaults.
using FieldValues = std::map<std::string, FieldValue>;

struct JobSpec {
  const JobKind* kind = nullptr;
  FieldValues values = {};

  [[nodiscard]] bool given(const std::string& field) const { return values.contains(field); }
  // These return the value given for a field, or its default. They throw std::bad_variant_access
  // for a field of another kind.
  [[nodiscard]] std::string text(const std::string& field) const;
  [[nodiscard]] std::int64_t integer(const std::string& field) const;
  [[nodiscard]] double number(const std::string& field) const;
  [[nodiscard]] bool flag(const std::string& field) const;
  [[nodiscard]] std::vector<std::string> list(const std::string& field) const;
  [[nodiscard]] std::map<std::string, std::string> parameters() const;
  [[nodiscard]] Call call() const;
};

/// Holds what a job did.
struct JobReport {
  Json summary = {};                    ///< What `--json` prints.
  std::vector<std::string> lines = {};  ///< What the command prints otherwise.
  std::vector<std::string> files = {};  ///< The files that were written, the output first.
  /// Numbers for the tables of a report. `run_job` adds those of the summary.
  std::map<std::string, double> measures = {};
  std::vector<std::string> remarks = {};  ///< Filled in by `run_job`.
};

/// A kind of job. Its row stands in job_table.cpp.
struct JobKind {
  std::string name;     ///< The subcommand: "attend".
  std::string about;    ///< One line for the list of commands.
  std::string example;  ///< Example command lines, which end `--help`; each begins with two blanks.
  /// Increased whenever the same spec and inputs give another result, so that studies compute anew.
  int version = 1;
  std::vector<JobField> fields;
  /// Throws misuse for a wrong spec, a failure if the work fails, and interrupted once the context
  /// wants the job to stop.
  JobReport (*run)(const JobSpec& spec, const JobContext& context);
  /// Throws misuse for what can be found wrong before any input is read. Null: nothing.
  void (*check)(const JobSpec& spec) = nullptr;
  /// Throws misuse or a failure if the files that are read lack what the job needs; it reads no
  /// numbers. Null: nothing is checked. `check` has passed before.
  void (*check_input)(const JobSpec& spec) = nullptr;
  /// Returns the kinds of the jobs whose output it can read under this spec. Null: any.
  std::vector<std::string> (*sources)(const JobSpec& spec) = nullptr;
  /// Returns the keys that `-p` may have under this spec. Null: the job has no parameters.
  std::vector<std::string> (*keys)(const JobSpec& spec) = nullptr;
  /// The endings of the files that a study lets the job write.
  std::vector<std::string> endings = {".h5"};
  /// The numbers that tables of a report may show; empty: it is not known before.
  std::vector<std::string> measures = {};
  /// Returns the keys that have several values within one result; the last one is that of the lines
  /// along which exponents are. Null: none.
  std::vector<std::string> (*case_keys)(const JobSpec& spec) = nullptr;
  /// Returns about how many seconds the job takes here; NaN where its input is not there yet. Null:
  /// unknown.
  double (*seconds)(const JobSpec& spec) = nullptr;
  /// Says whether the output is a result of this kind, for which `run_job` checks that the output
  /// may be replaced and can be written. False: the job does so itself.
  bool result = false;
  bool tokens = false;  ///< Whether its result may be read as q, k and v or a hierarchy.
  /// Returns the groups of its result that hold q, k and v, as "/layer3". Null: it is not known.
  std::vector<std::string> (*groups)(const JobSpec& spec) = nullptr;
  bool ranks = false;          ///< Whether several processes may compute it (JobContext::ranks).
  bool measures_time = false;  ///< Whether other jobs must not run beside it.
};

/// Returns the field, or null if the kind has none of that name.
[[nodiscard]] const JobField* find_field(const JobKind& kind, const std::string& name);
/// Returns the kind's field that the job writes, or reads first; null if it has none.
[[nodiscard]] const JobField* find_field(const JobKind& kind, FieldKind wanted);

/// Returns the fields as the command line and TOML have them: a field of the kind `call` is
/// replaced by the operator, the parts of a call and `parameters`.
[[nodiscard]] std::vector<JobField> typed_fields(const JobKind& kind);
/// Returns the job as JSON without what does not change its result, such as its output. Defaults
/// are written out. Results store it as the attribute `spec`.
[[nodiscard]] Json spec_to_json(const JobSpec& spec);
/// Returns the words of the command line that runs the job, "conelab" first. Only what was given is
/// written.
[[nodiscard]] std::vector<std::string> command_words(const JobSpec& spec);

}  // namespace conelab
