// A benchmark's result as JSON, for `--json`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/bench/measured.h"

namespace conelab {

/// The labels of a case under the names of the file's axes.
[[nodiscard]] nlohmann::ordered_json labels_json(const Case& labels);

/// JSON has no NaN: null.
[[nodiscard]] nlohmann::ordered_json number_json(double value);

/// How many cases were measured twice, and how often they came out different, with its interval.
[[nodiscard]] nlohmann::ordered_json control_json(const MeasuredControl& control);

/// `output`, `cases` with every label and number, `exponents` (with the local ones), `control`
/// (A/A) and `notes`.
[[nodiscard]] nlohmann::ordered_json bench_json(const LabelledFile& file, const std::string& name);

}  // namespace conelab
