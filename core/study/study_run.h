// Runs the jobs of a study, each in a process of its own, and keeps what is finished.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/study/study_file.h"
#include "core/study/study_index.h"

namespace conelab {

struct StudyOptions {
  std::string folder;  ///< Of the results, see study_index.h.
  int at_once = 1;     ///< How many jobs run beside each other.
  int shard = 1;       ///< Of the jobs that read no other, every `shards`-th from the `shard`-th on
  int shards = 1;      ///< is run, and what can be made of these alone.
  bool shared = false;  ///< Whether other shards may run in the folder at the same time.
};

/// How far a running study is.
struct StudyProgress {
  double fraction = 0;  ///< Of the whole study, in [0, 1].
  double seconds =
      std::numeric_limits<double>::quiet_NaN();  ///< Expected until the end; NaN: unknown.
  std::vector<std::string> running = {};         ///< The names of the jobs that run.
  std::string text = {};  ///< One line: how many jobs have ended, which run, and their stage.
};

/// Holds what a study is given by whoever runs it. Its functions are called from one thread at a
/// time.
struct StudyContext {
  JobContext job;                   ///< Of the jobs. Its `progress` is not used.
  std::vector<std::string> worker;  ///< The command that starts a worker of jobs (job_worker.h).
  std::function<void(const StudyProgress&)> progress = {};  ///< Empty: nobody listens.
  /// Receives a line for each job that ended. Empty: nobody listens.
  std::function<void(const std::string& line)> ended = {};
};

/// Returns the index of a study as `run_study` would begin it: with "done" for every job whose
/// result is in the folder already. Nothing is written but the digests of large files.
[[nodiscard]] StudyIndex plan_study(const Study& study, const std::string& folder,
                                    const std::function<bool()>& cancelled);

/// Returns about how many seconds each job that is not done takes, from its kind and from jobs of
/// the same block that are done; NaN where that is unknown.
[[nodiscard]] std::vector<double> predicted_seconds(const Study& study, const StudyIndex& index);

/// Returns the jobs that a shard computes itself: its part of those that read nothing but data
/// sets, and of the data sets that nothing reads; what is made of these alone; and the data sets
/// that they read. The trials of a case are in one shard. Shards that share a folder make a data
/// set once: one computes it, and the others wait.
[[nodiscard]] std::vector<bool> jobs_of_shard(const Study& study, int shard, int shards);

/// Returns the number of shards beyond which some have no job that others have not, at least 1.
[[nodiscard]] int most_shards(const Study& study);

/// Runs every job that is not done. A job that fails is noted and does not stop the others; those
/// that read it, or the result of another shard, are "waiting". Returns the index, which the folder
/// holds as well. Throws interrupted once the context wants the study to stop, and a failure if the
/// folder cannot be written; what is finished is kept, and the next run goes on from there.
[[nodiscard]] StudyIndex run_study(const Study& study, const StudyOptions& options,
                                   const StudyContext& context);

}  // namespace conelab
