// What each subcommand's file offers to the table; see app/command.h.
#pragma once

#include "app/command.h"

namespace conelab {

Action declare_gui(CLI::App& options);
Action declare_list(CLI::App& options);

}  // namespace conelab
