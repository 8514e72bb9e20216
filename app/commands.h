// What each subcommand's file offers to the table; see app/command.h.
#pragma once

#include "app/command.h"

namespace conelab {

Action declare_attend(CLI::App& options);
Action declare_bench(CLI::App& options);
Action declare_bench_worker(CLI::App& options);
Action declare_compare(CLI::App& options);
Action declare_figure(CLI::App& options);
Action declare_gui(CLI::App& options);
Action declare_help(CLI::App& options);
Action declare_inspect(CLI::App& options);
Action declare_lca(CLI::App& options);
Action declare_list(CLI::App& options);
Action declare_tree(CLI::App& options);

}  // namespace conelab
