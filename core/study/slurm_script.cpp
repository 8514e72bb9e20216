#include "core/study/slurm_script.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/study/call_json.h"

namespace conelab {

std::string slurm_script(const SlurmJob& job) {
  const std::string name = std::filesystem::path(job.study).stem().string();
  const auto quoted = [](const std::string& text) { return shell_line({text}); };
  return fmt::format(
      R"(#!/bin/bash
# Written by `conelab run --slurm`. Submit it with sbatch; options of a cluster (partition, time,
# memory, GPU) can be given to sbatch or be added here.
#SBATCH --job-name=conelab-{name}
#SBATCH --array=1-{tasks}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={plain_folder}/slurm-%A_%a.log
set -u
program={program} study={study} folder={folder}
[ -n "${{SLURM_ARRAY_TASK_ID:-}}" ] || exec sbatch "$0"
mkdir -p "$folder"
# Joins the shards after the last task. A task that starts again does not submit it again.
if [ "$SLURM_ARRAY_TASK_ID" = 1 ] && (set -C; : > "$folder/joined-by-$SLURM_ARRAY_JOB_ID") 2>/dev/null; then
  sbatch --job-name=conelab-{name}-join --output="$folder/slurm-%j.log" \
    --dependency="afterany:$SLURM_ARRAY_JOB_ID" --wrap "
      '$program' merge '$folder'/shard-* -o '$folder'
      '$program' run '$study' -o '$folder'{quick} --shard 1/1
      '$program' report '$folder' -o '$folder/report'"
fi
exec "$program" run "$study" -o "$folder/shard-$SLURM_ARRAY_TASK_ID"{quick} \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
)",
      fmt::arg("name", quoted(name)), fmt::arg("tasks", job.tasks),
      fmt::arg("plain_folder", job.folder), fmt::arg("program", quoted(job.program)),
      fmt::arg("study", quoted(job.study)), fmt::arg("folder", quoted(job.folder)),
      fmt::arg("quick", job.quick ? " --quick" : ""));
}

}  // namespace conelab
