// The only registration of subcommands.
#include "app/command.h"
#include "app/commands.h"

namespace conelab {

std::span<const Command> command_table() {
  static const Command table[] = {
      {"list", "names of similarities, maps, masks, biases, figures, data sets, devices",
       "  conelab list similarities\n  conelab list devices --json\n", false, declare_list},
      {"gui", "open the desktop program", "  conelab gui trace.h5\n", false, declare_gui},
  };
  return table;
}

}  // namespace conelab
