#include "core/jobs/hierarchy_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/names.h"
#include "core/base/parse_number.h"
#include "core/files/read_tensors.h"
#include "core/job/call_json.h"
#include "core/operators/operator.h"

namespace conelab {

std::vector<std::string> keys_with_parameters(const std::vector<KeyInfo>& own,
                                              const std::vector<std::string>& similarities) {
  std::vector<std::string> keys = all_keys(own);
  for (const std::string& name : similarities) {
    const SimilarityRow* row = find_similarity(name);
    if (row == nullptr) continue;
    for (const ParameterInfo& info : row->parameters) {
      add_once(keys, info.key);
    }
  }
  return keys;
}

KeyTexts own_texts(const JobSpec& spec, const std::vector<KeyInfo>& own,
                   const std::vector<std::string>& known) {
  KeyTexts texts;
  for (const auto& [key, value] : spec.parameters()) {
    if (index_of_name("key of " + spec.kind->name, key, known) < own.size()) texts[key] = value;
  }
  return texts;
}

std::map<std::string, double> similarity_parameters(const JobSpec& spec,
                                                    const std::vector<KeyInfo>& own,
                                                    const std::string& similarity) {
  std::map<std::string, double> numbers;
  const std::vector<std::string> keys = keys_with_parameters(own, {similarity});
  const auto given = spec.parameters();
  for (std::size_t i = own.size(); i < keys.size(); ++i) {
    const auto found = given.find(keys[i]);
    if (found == given.end() || found->second == "train") continue;
    const auto number = parse_number(found->second);
    if (!number) misuse("parameter {}={} is neither a number nor train", keys[i], found->second);
    numbers[keys[i]] = *number;
  }
  return numbers;
}

Json spec_with_defaults(JobSpec spec, const KeyTexts& defaults) {
  KeyTexts parameters = spec.parameters();
  parameters.insert(defaults.begin(), defaults.end());
  spec.values["parameters"] = parameters;
  return spec_to_json(spec);
}

Hierarchy read_edges(const JobSpec& spec, const JobContext& context) {
  const std::string path = parse_input_spec(spec.text("input")).path;
  Hierarchy hierarchy = read_hierarchy(path, context.cancelled);
  if (hierarchy.edges.empty()) fail("{}: the hierarchy has no edges", path);
  check_closure_fits(hierarchy, path);
  return hierarchy;
}

LabelledArray group_with_held_out(const Hierarchy& hierarchy, const HeldOut& held) {
  LabelledArray group = hierarchy_group(hierarchy);
  if (!held.pairs.empty()) {
    std::vector<std::int64_t> pairs;
    for (const auto& pair : held.pairs) pairs.insert(pairs.end(), pair.begin(), pair.end());
    group.axes.push_back(counted_axis("held_out_pair", held.pairs.size()));
    group.add("held_out", {"held_out_pair", "end"}, std::move(pairs));
  }
  if (!held.unseen.empty()) {
    group.axes.push_back(counted_axis("unseen", held.unseen.size()));
    group.add("held_out_node", {"unseen"}, held.unseen);
  }
  return group;
}

LabelledFile result_of(const Json& spec) {
  return {program_version(),
          {},
          {{"result", spec["command"].get<std::string>()}, {"spec", json_line(spec)}},
          {}};
}

}  // namespace conelab
