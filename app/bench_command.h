// The command line that runs a sweep which was set up in the desktop's form.
#pragma once

#include <string>
#include <vector>

#include "widgets/session/session.h"

namespace conelab {

/// Returns the words of `conelab bench` for the choices `typed` and the file `output`, "conelab"
/// first. Every option is written out, defaults too, so that the line does not depend on them.
[[nodiscard]] std::vector<std::string> bench_command(const desktop::BenchChoice& typed,
                                                     const std::string& output);

}  // namespace conelab
