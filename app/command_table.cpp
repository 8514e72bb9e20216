// The table of subcommands.
#include <iterator>
#include <vector>

#include "app/command.h"
#include "app/command_job.h"
#include "core/jobs/job_table.h"

namespace conelab {

// Each is defined in app/command_<name>.cpp.
Action declare_bench_worker(CLI::App& options);
Action declare_compare(CLI::App& options);
Action declare_gui(CLI::App& options);
Action declare_help(CLI::App& options);
Action declare_inspect(CLI::App& options);
Action declare_lca(CLI::App& options);
Action declare_job_worker(CLI::App& options);
Action declare_list(CLI::App& options);
Action declare_merge(CLI::App& options);
Action declare_pages(CLI::App& options);
Action declare_report(CLI::App& options);
Action declare_run(CLI::App& options);

std::span<const Command> command_table() {
  static const std::vector<Command> table = [] {
    std::vector<Command> rows;
    for (const JobKind& kind : job_table()) {
      rows.push_back({kind.name.c_str(), kind.about.c_str(), kind.example.c_str(), false,
                      [&kind](CLI::App& options) { return declare_job(kind, options); }});
    }
    const Command others[] = {
        {"run", "run a study: data sets, sweeps, benchmarks and figures of one file",
         "  conelab run resources/studies/first.toml -o first\n"
         "  conelab run study.toml --dry-run\n"
         "  conelab run study.toml -o part2 --shard 2/8\n",
         false, declare_run},
        {"report", "a page, figures and LaTeX from the results of studies",
         "  conelab report first -o report\n  conelab report report --check\n", false,
         declare_report},
        {"merge", "join the folders of a study that was run in shards",
         "  conelab merge part1 part2 -o whole\n", false, declare_merge},
        {"job-worker", "one job of a study, driven by `run`",
         "  conelab job-worker    (started by `conelab run`)\n", true, declare_job_worker},
        {"bench-worker", "one case of a benchmark, driven by `bench`",
         "  conelab bench-worker    (started by `conelab bench`)\n", true, declare_bench_worker},
        {"pages", "man pages and completion, for the installation",
         "  conelab pages -o /usr/local/share\n", true, declare_pages},
        {"compare", "which cases of two benchmark results differ",
         "  conelab compare before.h5 after.h5\n", false, declare_compare},
        {"lca", "lowest common ancestor of two points under a cone family",
         "  conelab lca --cone penumbral -p height=1 0.3,0.2 -0.4,0.5\n"
         "  conelab lca --cone ganea 0.6,0.1 0.5,0.4 --figure lca.pdf\n"
         "  conelab lca --cone umbral --json -- -0.3,0.2 0.4,0.1\n",
         false, declare_lca},
        {"inspect", "what is in a file, whether it is sound, which program wrote it",
         "  conelab inspect out.h5\n  conelab inspect qkv.npz --json\n", false, declare_inspect},
        {"list", "names of operators, their parts, figures, data sets and devices",
         "  conelab list similarities\n  conelab list devices --json\n", false, declare_list},
        {"gui", "open the desktop program", "  conelab gui trace.h5\n", false, declare_gui},
        {"help", "the manual by topics", "  conelab help\n  conelab help data\n", false,
         declare_help},
    };
    rows.insert(rows.end(), std::begin(others), std::end(others));
    return rows;
  }();
  return table;
}

}  // namespace conelab
