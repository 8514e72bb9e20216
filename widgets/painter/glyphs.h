// The embedded fonts as Qt raw fonts, and strings as positioned glyphs.
#pragma once

#include <QGlyphRun>
#include <QList>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Glyphs of a text item with its anchor's baseline at the origin, not turned, in points. Advances
/// are core's; only right-to-left and joined scripts are shaped.
[[nodiscard]] QList<QGlyphRun> glyph_runs(const TextItem& item);

}  // namespace conelab::figure
