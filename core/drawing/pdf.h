// A display list as a PDF 1.5 of one page (ISO 32000-1).
//
// Text is text: each font is embedded as a subset of its glyphs, with a table from glyphs to
// characters, so that it can be selected and searched. Arcs are curves within 0.002 points, images
// are stored without loss, numbers have fixed decimals, and no time is written: equal lists give
// equal bytes.
#pragma once

#include <string>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Returns the document. Throws a failure for an invalid list (see `validate`), or if zlib or
/// HarfBuzz fail.
[[nodiscard]] std::string to_pdf(const DisplayList& list);

}  // namespace conelab::figure
