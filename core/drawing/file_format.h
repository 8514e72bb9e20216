// The format of a figure file, which is determined by the extension of its name.
#pragma once

#include <string>

namespace conelab::figure {

/// Returns "svg", "pdf" or "png"; upper and lower case are equal. Throws misuse for any other
/// extension or none.
[[nodiscard]] std::string file_format(const std::string& path);

}  // namespace conelab::figure
