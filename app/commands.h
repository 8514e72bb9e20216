// What each subcommand's file offers to the table; see app/command.h.
#pragma once

#include "app/command.h"

namespace conelab {

Action declare_figure(CLI::App& options);
Action declare_gui(CLI::App& options);
Action declare_lca(CLI::App& options);
Action declare_list(CLI::App& options);

}  // namespace conelab
