// The script that runs a study as a job array of Slurm.
#pragma once

#include <string>
#include <string_view>

#include "core/study/study_file.h"

namespace conelab {

struct SlurmJob {
  std::string program, study;  ///< Absolute paths of the program and of the study.
  std::string folder;          ///< The absolute path of the results, which all tasks share.
  int tasks = 1;
  bool quick = false;
  StudyInputs inputs = {};  ///< With absolute paths.
};

/// Returns the script for `sbatch`: an array of tasks, of which each runs a shard and goes on where
/// it was when Slurm starts it again. The first task submits the job that merges the shards when
/// all have ended, runs what was waiting for several of them, and writes the report.
[[nodiscard]] std::string slurm_script(const SlurmJob& job);
/// Marks a script as one that slurm_script has made.
inline constexpr std::string_view slurm_mark = "# Written by `conelab run --slurm`";

}  // namespace conelab
