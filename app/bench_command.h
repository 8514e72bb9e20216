// The `conelab bench` that runs a sweep of the desktop's form.
#pragma once

#include <string>
#include <vector>

#include "widgets/session/session.h"

namespace conelab {

/// Argument vector, "conelab" first; every option is written out, so that the line says it all.
[[nodiscard]] std::vector<std::string> bench_command(const desktop::BenchChoice& typed,
                                                     const std::string& output);

}  // namespace conelab
