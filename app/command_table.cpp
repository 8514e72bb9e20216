// The only registration of subcommands.
#include "app/command.h"
#include "app/commands.h"

namespace conelab {

std::span<const Command> command_table() {
  static const Command table[] = {
      {"gui", "open the desktop program", "  conelab gui trace.h5\n", false, declare_gui},
  };
  return table;
}

}  // namespace conelab
