// A display list as SVG 1.1 that stays editable: real arcs, one <text> element per string.
//
// Fixed decimals, the fonts embedded as subsets of the glyphs used (TrueType in a data URI), images
// as PNG data URIs with crisp cells, and no wall clock: equal lists give equal bytes. Ids and font
// names carry a hash of the content, so that several figures can be put into one HTML page.
#pragma once

#include <string>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// The document, UTF-8. Throws a failure for a list that is not sound (see `validate`).
[[nodiscard]] std::string to_svg(const DisplayList& list);

}  // namespace conelab::figure
