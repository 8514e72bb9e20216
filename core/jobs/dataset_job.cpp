// The job `dataset`: makes a data set and writes it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/dataset/dataset.h"
#include "core/job/call_json.h"
#include "core/jobs/hierarchy_job.h"
#include "core/jobs/shared_fields.h"

namespace conelab {
namespace {

/// Adds the sizes of a hierarchy: nodes, roots, edges, pairs of a node and its ancestor.
void add_sizes(const Hierarchy& hierarchy, const JobContext& context, Json& sizes) {
  sizes["nodes"] = hierarchy.names.size();
  sizes["edges"] = hierarchy.edges.size();
  sizes["roots"] = std::ranges::count(hierarchy.depths, 0);
  const std::optional<ClosureSize> closure = closure_size(hierarchy);
  if (!closure) {
    context.say("ancestor_pairs is not counted: that would take more than {} steps",
                most_closure_steps);
    return;
  }
  sizes["ancestor_pairs"] = closure->pairs;
  if (closure->following > 0) sizes["edges_that_follow"] = closure->following;
}

Json sizes_json(const MadeData& made, const JobContext& context) {
  Json sizes = Json::object();
  if (made.hierarchy) add_sizes(*made.hierarchy, context, sizes);
  if (made.source_nodes) sizes["source_nodes"] = *made.source_nodes;
  for (const auto& [name, group] : made.groups) {
    for (const LabelledVariable& variable : group.variables) {
      if (variable.name == "edge") sizes["edges"] = group.axis(variable.axes[0])->size();
      Json& extents = sizes[name + "/" + variable.name] = Json::array();
      for (const std::string& axis : variable.axes) extents.push_back(group.axis(axis)->size());
    }
  }
  for (const RootTensor& tensor : made.tensors) sizes[tensor.name] = tensor.extents;
  return sizes;
}

void write_dataset(const std::string& path, const MadeData& made, Attributes attributes) {
  LabelledFile file{program_version(), made.groups, std::move(attributes), made.tensors};
  if (made.hierarchy) {
    file.groups.insert(file.groups.begin(), {"hierarchy", hierarchy_group(*made.hierarchy)});
  }
  write_labelled(path, file);
}

JobReport run_dataset(const JobSpec& spec, const JobContext& context) {
  const std::string kind = spec.text("kind"), output = spec.text("output");
  const KeyValues values = dataset_values(kind, spec.parameters());
  const MadeData made = make_dataset(kind, spec.parameters());
  stop_if(context.cancelled);
  const Json json = spec_with_defaults(spec, values.texts());
  write_dataset(output, made,
                {{"result", "dataset"},
                 {"kind", kind},
                 {"seed", values.whole("seed")},
                 {"spec", json_line(json)}});
  for (const std::string& remark : made.remarks) context.say("{}", remark);
  const Json sizes = sizes_json(made, context);
  JobReport report{.summary = {{"output", output}, {"spec", json}, {"sizes", sizes}},
                   .lines = {fmt::format("{}: data set {}", output, kind)},
                   .files = {output}};
  for (const auto& [name, size] : sizes.items()) {
    report.lines.push_back(fmt::format("  {:<16} {}", name, size.dump()));
    if (size.is_number()) report.measures[name] = size.get<double>();
  }
  return report;
}

void check_dataset(const JobSpec& spec) {
  (void)dataset_values(spec.text("kind"), spec.parameters());
}

/// Reads the file of a user's hierarchy, so that what is wrong in it is known before a study runs.
void check_imported(const JobSpec& spec) {
  if (row_named("data set", dataset_table(), spec.text("kind")).endings.empty()) return;
  (void)make_dataset(spec.text("kind"), spec.parameters());
}

}  // namespace

JobKind dataset_job() {
  return {.name = "dataset",
          .about = "make a data set whose hierarchy, graph or series is known, or import one",
          .example =
              "  conelab dataset wordnet -o mammals.h5\n"
              "  conelab dataset tree -o tree.h5 -p branching=3 -p depth=5\n"
              "  conelab dataset edges -o mine.h5 -p path=parents.csv\n",
          .fields = {{.name = "kind",
                      .option = "NAME",
                      .about = join(names_of(dataset_table())) + " (`conelab list datasets`)",
                      .required = true},
                     output_field(),
                     parameters_field("a key (`conelab list datasets`), -p again for the next")},
          .run = run_dataset,
          .check = check_dataset,
          .check_input = check_imported,
          .keys =
              [](const JobSpec& spec) {
                return all_keys(keys_of(row_named("data set", dataset_table(), spec.text("kind"))));
              },
          .result = true,
          .tokens = true,
          .groups =
              [](const JobSpec& spec) {
                const auto& row = row_named("data set", dataset_table(), spec.text("kind"));
                return std::vector<std::string>(row.tokens ? 1 : 0);
              }};
}

}  // namespace conelab
