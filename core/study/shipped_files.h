// The files that ship with the program: traces, and studies in the folder `studies`.
#pragma once

#include <string>
#include <vector>

namespace conelab {

/// Returns the path of a file that ships with the program ("minilm_trace.h5"), in the folder
/// share/conelab of what is installed or built. Returns an empty text if there is none.
[[nodiscard]] std::string shipped_file(const std::string& name);

/// Returns the studies that ship with the program, sorted by name.
[[nodiscard]] std::vector<std::string> shipped_studies();

}  // namespace conelab
