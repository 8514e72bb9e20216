// A benchmark's result for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/bench/runner.h"

namespace conelab {

/// One row per case: median time with its interval, attained FLOP/s, error; then the exponents.
[[nodiscard]] std::string bench_summary_text(const BenchResult& result, const std::string& output);

/// The same as JSON: `output`, `cases` with every label and number, `exponents`.
[[nodiscard]] nlohmann::ordered_json bench_summary_json(const BenchResult& result,
                                                        const std::string& output);

}  // namespace conelab
