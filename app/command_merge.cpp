// `conelab merge`: joins the folders of a sharded study.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/output.h"
#include "core/study/study_index.h"

namespace conelab {
namespace {

struct TypedMerge {
  std::vector<std::string> folders;
  std::string output;
  bool json = false;
};

int run_merge(const TypedMerge& typed) {
  const MergeResult result = merge_studies(typed.folders, typed.output, interrupted);
  const StudyIndex& index = result.index;
  if (typed.json) {
    print_json({{"output", typed.output},
                {"done", index.count("done")},
                {"jobs", index.jobs.size()},
                {"duplicates", result.duplicates},
                {"conflicts", result.conflicts}});
  } else {
    for (const std::string& line : result.duplicates) say("duplicate {}", line);
    for (const std::string& line : result.conflicts) say("conflict {}", line);
    say("{}: {} of {} jobs done, {} duplicates, {} conflicts", typed.output, index.count("done"),
        index.jobs.size(), result.duplicates.size(), result.conflicts.size());
  }
  return result.conflicts.empty() ? 0 : 1;
}

}  // namespace

Action declare_merge(CLI::App& options) {
  const auto typed = std::make_shared<TypedMerge>();
  options.add_option("DIR", typed->folders, "folders that `run --shard` wrote")->required();
  options.add_option("-o,--output", typed->output, "the folder of all results")->required();
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run_merge(*typed); };
}

}  // namespace conelab
