// Searching the keys of a job that have no gradient, as the rate of descent: the job is run for
// many of their values, and then once more with those that did best.
//
//   conelab train data.h5 -o head.h5 -s umbral -p held_out=.2 --tune 16 --tune-by held_out_map
//   tune = { trials = 16, by = "held_out_map", rate = [0.005, 0.5] }          # in a study
//
// A trial is a job of its own: the same spec with other values of these keys, and with
// `trial_seed`, so that the seeds of the job are fresh. Trial t takes the t-th point of Halton's
// sequence, in the bases 2, 3, 5, ... for one key each, on a logarithmic scale where both bounds
// are positive. The trials of a smaller number are therefore the first ones of a larger number, and
// keys that two operators share take the same values. A job that is interrupted, or whose number of
// trials grows, finds the trials that are finished: in a study among its jobs, beside the output of
// a command in the folder OUTPUT.trials, which is laid out alike (core/job/job_record.h).
#pragma once

#include <string>
#include <vector>

#include "core/files/bench_file.h"
#include "core/job/job_spec.h"

namespace conelab {

inline constexpr const char* trial_seed = "1000";

/// Holds what was found among the trials of a job.
struct TuneChoice {
  std::string by;                          ///< The measure.
  std::vector<std::string> keys;           ///< Those that were searched.
  std::vector<std::vector<double>> point;  ///< [trial × key]
  std::vector<double> value;               ///< [trial] The measure; NaN if a trial has none.
  std::size_t best = 0;                    ///< The first trial with the best value.
};

/// Returns the kind with the fields that say how it is searched; its `measures` are set
/// before.
[[nodiscard]] JobKind with_tune_fields(JobKind kind);

/// Returns how many trials the job has; 0: its keys are not searched.
[[nodiscard]] std::int64_t trials_of(const JobSpec& spec);
/// Returns the job of a trial, without an output. Throws misuse for a key that no such job has, and
/// for bounds that are wrong.
[[nodiscard]] JobSpec trial_spec(const JobSpec& spec, std::int64_t trial);
/// Throws misuse if the job cannot be searched as its fields say.
void check_tune(const JobSpec& spec);

/// Returns the choice among the files of the job's field `trial`. Throws a failure if none of them
/// has the measure.
[[nodiscard]] TuneChoice choose_trial(const JobSpec& spec, const JobContext& context);
/// Returns the job with the values of the best trial.
[[nodiscard]] JobSpec chosen_spec(const JobSpec& spec, const TuneChoice& choice);
/// Adds the group /tune, and what was chosen as attributes, to a result and to a report; nothing if
/// the context knows of no choice.
void add_choice(const JobContext& context, LabelledFile& file, JobReport& report);

/// Runs the trials that are not finished yet, and returns the job with their files.
[[nodiscard]] JobSpec with_trials(const JobSpec& spec, const JobContext& context);

}  // namespace conelab
