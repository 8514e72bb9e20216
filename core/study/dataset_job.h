// The job `dataset`: makes a data set and writes it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/dataset/dataset.h"
#include "core/study/job.h"

namespace conelab {

struct DatasetJob {
  std::string name;     ///< A row of dataset_table.
  std::string output;   ///< The HDF5 file to write.
  KeyTexts parameters;  ///< The values given; others have their defaults.
};

/// Makes the data set and writes it whole or not at all, with the attributes `kind`, `seed` and
/// `spec`. Throws misuse as make_dataset does, and if a file at `output` is no data set.
[[nodiscard]] Dataset run_dataset(const DatasetJob& job, const JobContext& context);

/// Returns the job as JSON without its output, with every default written out.
[[nodiscard]] nlohmann::ordered_json dataset_to_json(const DatasetJob& job);

/// Returns the values as a JSON object; those that are numbers as numbers.
[[nodiscard]] nlohmann::ordered_json values_json(const KeyValues& values);

}  // namespace conelab
