#include "core/study/dataset_job.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/environment.h"
#include "core/base/parse_number.h"
#include "core/files/atomic_file.h"
#include "core/files/replaceable.h"
#include "core/study/call_json.h"

namespace conelab {

using Json = nlohmann::ordered_json;

Json values_json(const KeyValues& values) {
  Json json = Json::object();
  for (const auto& [key, typed] : values.texts()) {
    const auto number = values.find_number(key);
    if (!number) {
      json[key] = typed;
    } else if (const auto integer = parse_integer(typed)) {
      json[key] = *integer;
    } else {
      json[key] = *number;
    }
  }
  return json;
}

Json dataset_to_json(const DatasetJob& job) {
  return {{"command", "dataset"},
          {"name", job.name},
          {"parameters", values_json(dataset_values(job.name, job.parameters))}};
}

Dataset run_dataset(const DatasetJob& job, const JobContext& context) {
  const KeyValues values = dataset_values(job.name, job.parameters);
  check_replaceable_result(job.output, "dataset", "dataset", {.cancelled = context.cancelled});
  probe_writable(job.output);
  Dataset made = make_dataset(job.name, job.parameters);
  if (context.stopped()) throw Error(ErrorKind::interrupted, "dataset: interrupted");
  LabelledFile file{program_version(), std::move(made.groups), {}, made.tensors};
  if (made.hierarchy) {
    file.groups.insert(file.groups.begin(), {"hierarchy", hierarchy_group(*made.hierarchy)});
  }
  file.attributes = {{"result", "dataset"},
                     {"kind", job.name},
                     {"seed", values.whole("seed")},
                     {"spec", json_line(dataset_to_json(job))}};
  write_labelled(job.output, file);
  made.groups = std::move(file.groups);
  return made;
}

}  // namespace conelab
