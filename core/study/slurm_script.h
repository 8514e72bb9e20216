// The script that runs a study as a job array of Slurm.
#pragma once

#include <string>

namespace conelab {

struct SlurmJob {
  std::string program, study;  ///< Absolute paths of the program and of the study.
  std::string folder;  ///< The absolute path of the results; a task writes to folder/shard-N.
  int tasks = 1;
  bool quick = false;
};

/// Returns the script for `sbatch`: an array of tasks, of which each runs a shard and goes on where
/// it was when Slurm starts it again. The first task submits the job that merges the shards when
/// all have ended, runs what was waiting for several of them, and writes the report.
[[nodiscard]] std::string slurm_script(const SlurmJob& job);

}  // namespace conelab
