// A display list as SVG 1.1 that can be edited: it has real arcs and one <text> element per string.
//
// Numbers have fixed decimals, fonts are embedded as subsets of the glyphs used (TrueType in a data
// URI), images are PNG data URIs with sharp cells, and no time is written: equal lists give equal
// bytes. Ids and font names contain a hash of the content, so that several figures can be in one
// HTML page.
#pragma once

#include <string>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Returns the document in UTF-8. Throws a failure for an invalid list (see `validate`).
[[nodiscard]] std::string to_svg(const DisplayList& list);

}  // namespace conelab::figure
