// The glyphs of a text and their places, for formats that draw glyphs instead of strings: PDF, and
// the screen.
//
// Letters stand at the sums of their advances (font_metrics.h), without kerning and ligatures.
// Scripts whose letters join or reorder are shaped by HarfBuzz. Text that mixes directions is split
// where the direction changes; the parts run in the direction of the first letter that has one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/figure/fonts.h"

namespace conelab::figure {

/// A glyph. Its origin (x, y) is in points, y pointing down.
struct PlacedGlyph {
  std::uint32_t glyph = 0;
  double x = 0, y = 0;
  std::u32string text;  ///< The characters that it shows; empty if another glyph shows them.
};

/// Glyphs of one font and size.
struct GlyphRun {
  FontFile file = FontFile::regular;
  double size = 0;  ///< Points for an em.
  /// Whether each glyph begins where the advance of the one before ends.
  bool is_plain = true;
  std::vector<PlacedGlyph> glyphs;
};

/// Returns the glyphs of a text item, with the baseline of its anchor at the origin, not rotated.
[[nodiscard]] std::vector<GlyphRun> glyph_runs(const TextItem& item);

}  // namespace conelab::figure
