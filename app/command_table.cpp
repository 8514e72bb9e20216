// The only registration of subcommands.
#include "app/command.h"
#include "app/commands.h"

namespace conelab {

std::span<const Command> command_table() {
  static const Command table[] = {
      {"lca", "lowest common ancestor of two points under a cone family",
       "  conelab lca --cone penumbral -p height=1 0.3,0.2 -0.4,0.5\n"
       "  conelab lca --cone umbral --json -- -0.3,0.2 0.4,0.1\n",
       false, declare_lca},
      {"figure", "draw a figure as SVG, PDF or PNG",
       "  conelab figure cones -o cones.svg -p cone=umbral -p u=-0.4,0.3 -p v=0.5,0.2\n"
       "  conelab figure heatmap -o maps.pdf --input datasets/minilm_trace.h5:/german/layer3 "
       "-p similarities=dot,penumbral,umbral -p head=5\n"
       "  conelab figure scaling -o scaling.svg --input bench.h5 --width 86mm\n",
       false, declare_figure},
      {"list", "names of similarities, maps, masks, biases, figures, data sets, devices",
       "  conelab list similarities\n  conelab list devices --json\n", false, declare_list},
      {"gui", "open the desktop program", "  conelab gui trace.h5\n", false, declare_gui},
  };
  return table;
}

}  // namespace conelab
