// The table of subcommands.
#include "app/command.h"

namespace conelab {

// Each is defined in app/command_<name>.cpp.
Action declare_attend(CLI::App& options);
Action declare_bench(CLI::App& options);
Action declare_bench_worker(CLI::App& options);
Action declare_compare(CLI::App& options);
Action declare_dataset(CLI::App& options);
Action declare_figure(CLI::App& options);
Action declare_gui(CLI::App& options);
Action declare_help(CLI::App& options);
Action declare_inspect(CLI::App& options);
Action declare_lca(CLI::App& options);
Action declare_list(CLI::App& options);
Action declare_tree(CLI::App& options);

std::span<const Command> command_table() {
  static const Command table[] = {
      {"attend", "attention over the tensors of a file",
       "  conelab attend datasets/minilm_trace.h5:/german/layer3 -o out.h5 --similarity penumbral "
       "-p gamma=2 --keep output,lse,weights\n"
       "  conelab attend qkv.npz -o out.h5 --similarity dot --mask causal --bias alibi\n",
       false, declare_attend},
      {"bench", "measure operators against sequence length",
       "  conelab bench -o bench.h5 --operators dot,penumbral --lengths 256..4096:x2 --heads 1\n"
       "  conelab bench --resume bench.h5    (after Ctrl-C)\n",
       false, declare_bench},
      {"bench-worker", "one case of a benchmark, driven by `bench`",
       "  conelab bench-worker    (started by `conelab bench`)\n", true, declare_bench_worker},
      {"compare", "which cases of two benchmark results differ",
       "  conelab compare before.h5 after.h5\n", false, declare_compare},
      {"lca", "lowest common ancestor of two points under a cone family",
       "  conelab lca --cone penumbral -p height=1 0.3,0.2 -0.4,0.5\n"
       "  conelab lca --cone ganea 0.6,0.1 0.5,0.4 --figure lca.pdf\n"
       "  conelab lca --cone umbral --json -- -0.3,0.2 0.4,0.1\n",
       false, declare_lca},
      {"tree", "ancestor order, dendrogram and segmentation of each head's tokens",
       "  conelab tree datasets/minilm_trace.h5:/german/layer3 -o tree.h5 --similarity umbral\n",
       false, declare_tree},
      {"dataset", "make a data set whose hierarchy, graph or series is known",
       "  conelab dataset wordnet -o mammals.h5\n"
       "  conelab dataset tree -o tree.h5 -p branching=3 -p depth=5\n",
       false, declare_dataset},
      {"figure", "draw a figure as SVG, PDF or PNG",
       "  conelab figure cones -o cones.svg -p cone=umbral -p u=-0.4,0.3 -p v=0.5,0.2\n"
       "  conelab figure heatmap -o maps.pdf --input datasets/minilm_trace.h5:/german/layer3 "
       "-p similarities=dot,penumbral,umbral -p head=5\n"
       "  conelab figure scaling -o scaling.svg --input bench.h5 --width 86mm\n",
       false, declare_figure},
      {"inspect", "what is in a file, whether it is sound, which program wrote it",
       "  conelab inspect out.h5\n  conelab inspect qkv.npz --json\n", false, declare_inspect},
      {"list", "names of operators, their parts, figures, data sets and devices",
       "  conelab list similarities\n  conelab list devices --json\n", false, declare_list},
      {"gui", "open the desktop program", "  conelab gui trace.h5\n", false, declare_gui},
      {"help", "the manual by topics", "  conelab help\n  conelab help data\n", false,
       declare_help},
  };
  return table;
}

}  // namespace conelab
