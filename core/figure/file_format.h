// What kind of file a figure is written as, by the file's ending.
#pragma once

#include <string>

namespace conelab::figure {

/// "svg", "pdf" or "png"; capitals count as small letters. Misuse for any other ending, and for
/// none.
[[nodiscard]] std::string file_format(const std::string& path);

}  // namespace conelab::figure
