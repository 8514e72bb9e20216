// The text form of a display list, which tests compare.
#pragma once

#include <string>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Returns the list as text, one item per line, with two decimals; images by size and CRC-32.
[[nodiscard]] std::string dump(const DisplayList& list);

}  // namespace conelab::figure
