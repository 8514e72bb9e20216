// Drawing of a display list with QPainter, for the screen and PNG, and finding what is pointed at.
//
// The fonts are the embedded ones, positioned by core, so that Qt neither substitutes fonts nor
// moves text. Glyphs are filled outlines, so that pixels do not depend on the text rendering of the
// platform.
#pragma once

#include <QGlyphRun>
#include <QList>
#include <QPainter>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Draws the list in points, with the origin at the top left of the page. The caller scales the
/// painter, whose state is restored. Throws a failure for an invalid list.
void paint(const DisplayList& list, QPainter& painter);

/// Returns the figure as PNG on white. Throws misuse for a density outside [10, 2400] dots per
/// inch.
[[nodiscard]] std::vector<std::uint8_t> to_png(const DisplayList& list, double dots_per_inch = 300);

/// Writes the figure to a file, completely or not at all (core/files/atomic_file.h). The extension
/// .svg, .pdf or .png selects the format; other extensions throw misuse. Throws a failure that
/// names the file if it cannot be written.
void write_figure(const DisplayList& list, const std::string& path, double dots_per_inch = 300);

/// Creates an application object if there is none; fonts need one. It is offscreen and
/// needs no display. The other functions here call this themselves.
void ensure_application();

/// Returns the index of the item nearest to `p`, at most `reach` away; `place` gives the point of
/// an item. Of several that are as near it is the last.
template <class Items, class PlaceOf>
std::optional<std::size_t> nearest(const Items& items, const PlaceOf& place, Point p,
                                   double reach) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Point q = place(items[i]);
    const double away = std::hypot(q.x - p.x, q.y - p.y);
    if (away <= reach) best = i, reach = away;
  }
  return best;
}

/// Returns the glyphs of a text item (core/drawing/fonts.h) as Qt draws them.
[[nodiscard]] QList<QGlyphRun> qt_glyph_runs(const TextItem& item);

}  // namespace conelab::figure
