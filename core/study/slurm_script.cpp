#include "core/study/slurm_script.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/job/call_json.h"

namespace conelab {

std::string slurm_script(const SlurmJob& job) {
  const std::string name = std::filesystem::path(job.study).stem().string();
  const auto quoted = [](const std::string& text) { return shell_line({text}); };
  std::vector<std::string> inputs;
  for (const auto& [block, file] : job.inputs) {
    inputs.insert(inputs.end(), {"--input", block + "=" + file});
  }
  return fmt::format(
      R"(#!/bin/bash
{mark}. Submit it with sbatch; options of a cluster (partition, time,
# memory, GPU) can be given to sbatch or be added here.
#SBATCH --job-name=conelab-{name}
#SBATCH --array=1-{tasks}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output={plain_folder}/slurm-%A_%a.log
set -u
program={program} study={study} folder={folder} inputs=({inputs})
[ -n "${{SLURM_ARRAY_TASK_ID:-}}" ] || exec sbatch "$0"
mkdir -p "$folder"
# Runs what read results of several tasks after the last one. A task that starts again does not submit it again.
if [ "$SLURM_ARRAY_TASK_ID" = 1 ] && (set -C; : > "$folder/joined-by-$SLURM_ARRAY_JOB_ID") 2>/dev/null; then
  sbatch --job-name=conelab-{name}-join --output="$folder/slurm-%j.log" \
    --dependency="afterany:$SLURM_ARRAY_JOB_ID" --wrap "
      '$program' run '$study' -o '$folder'{quick} ${{inputs[*]@Q}} --shard 1/1
      '$program' report '$folder' -o '$folder/report'"
fi
exec "$program" run "$study" -o "$folder"{quick} "${{inputs[@]}}" \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
)",
      fmt::arg("mark", slurm_mark), fmt::arg("name", quoted(name)), fmt::arg("tasks", job.tasks),
      fmt::arg("plain_folder", job.folder), fmt::arg("program", quoted(job.program)),
      fmt::arg("study", quoted(job.study)), fmt::arg("folder", quoted(job.folder)),
      fmt::arg("inputs", shell_line(inputs)), fmt::arg("quick", job.quick ? " --quick" : ""));
}

}  // namespace conelab
