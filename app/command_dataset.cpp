// `conelab dataset NAME -o FILE.h5`: makes a data set whose hierarchy, graph or series is known.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "app/run_job.h"
#include "core/base/find_named.h"
#include "core/study/call_json.h"
#include "core/study/dataset_job.h"

namespace conelab {
namespace {

using Json = nlohmann::ordered_json;

struct TypedDataset {
  DatasetJob job;
  std::vector<std::string> parameters;
  bool json = false;
};

/// Returns the sizes of what a data set holds: nodes, edges, pairs of a node and its ancestor.
Json sizes_json(const Dataset& made) {
  Json sizes = Json::object();
  if (made.hierarchy) {
    std::size_t pairs = 0;
    for (const auto& above : ancestors_of(*made.hierarchy)) pairs += above.size();
    sizes["nodes"] = made.hierarchy->names.size();
    sizes["edges"] = made.hierarchy->edges.size();
    sizes["ancestor_pairs"] = pairs;
  }
  for (const auto& [name, group] : made.groups) {
    for (const LabelledVariable& variable : group.variables) {
      Json& extents = sizes[name + "/" + variable.name] = Json::array();
      for (const std::string& axis : variable.axes) extents.push_back(group.axis(axis)->size());
    }
  }
  for (const RootTensor& tensor : made.tensors) sizes[tensor.name] = tensor.extents;
  return sizes;
}

int run_typed(const TypedDataset& typed) {
  DatasetJob job = typed.job;
  job.parameters = parse_parameters(typed.parameters);
  const Json sizes = sizes_json(run_dataset(job, command_context()));
  if (typed.json) {
    print_json({{"output", job.output}, {"spec", dataset_to_json(job)}, {"sizes", sizes}});
    return 0;
  }
  say("{}: data set {}", job.output, job.name);
  for (const auto& [name, size] : sizes.items()) say("  {:<16} {}", name, size.dump());
  return 0;
}

}  // namespace

Action declare_dataset(CLI::App& options) {
  const auto typed = std::make_shared<TypedDataset>();
  options
      .add_option("NAME", typed->job.name,
                  join(names_of(dataset_table())) + " (`conelab list datasets`)")
      ->required();
  options.add_option("-o,--output", typed->job.output, "the HDF5 file to write")->required();
  options.add_option("-p,--parameter", typed->parameters, "KEY=VALUE (`conelab list datasets`)")
      ->allow_extra_args(false);
  options.add_flag("--json", typed->json, "print JSON");
  return [typed] { return run_typed(*typed); };
}

}  // namespace conelab
