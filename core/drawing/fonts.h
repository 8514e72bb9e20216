// The fonts of every figure. They are part of the program, so that no result depends on the
// machine.
//
// They are Liberation Sans (regular, bold, italic), DejaVu Sans for characters that Liberation
// lacks, and Conelab Signs, which is this project's, for ␀. For other characters see
// font_metrics.h. HarfBuzz reads and subsets them. The licences of both fonts require that
// changed copies have another name. HarfBuzz does not write names, so that the table `name`
// (OpenType 1.9) of a copy is written here.
//
// Threads may call all functions at the same time.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/drawing/display_list.h"

namespace conelab::figure {

using Bytes = std::span<const std::uint8_t>;

/// The font files: one for each Face, the fallback, and signs that it lacks too.
enum class FontFile { regular, bold, italic, fallback, signs };

/// Returns the bytes of the file, which exist as long as the program.
[[nodiscard]] Bytes font_bytes(FontFile file);

/// Returns the number of the glyph for a code point, or 0 (the replacement box) if the font has
/// none.
[[nodiscard]] std::uint32_t glyph_of(FontFile file, char32_t code);
/// Returns how far the pen moves for a code point, in em.
[[nodiscard]] double advance(FontFile file, char32_t code);

/// These return the metrics of Liberation Sans in em; the descent is positive downwards.
[[nodiscard]] double ascent();
[[nodiscard]] double descent();
[[nodiscard]] double cap_height();

/// Returns the file that draws a character in this face: the first that has it of the face's own,
/// the fallback and the signs; the face's own, with its replacement box, if none has it.
[[nodiscard]] FontFile font_for(Face face, char32_t code);
/// Returns whether that file has a glyph for it.
[[nodiscard]] bool has_glyph(Face face, char32_t code);

/// The measures of a font that a PDF repeats, in thousandths of an em.
struct FontMeasures {
  double ascent = 0, descent = 0, cap_height = 0;   ///< The descent is negative.
  double left = 0, bottom = 0, right = 0, top = 0;  ///< The box around all glyphs.
};
[[nodiscard]] FontMeasures font_measures(FontFile file);
/// Returns the advance of a glyph in thousandths of an em.
[[nodiscard]] double glyph_advance(FontFile file, std::uint32_t glyph);

/// Returns a font file with these glyphs only, which keep their numbers, without hinting and
/// without tables for characters and names. Equal input gives equal bytes. Throws as subset_font
/// does.
[[nodiscard]] std::vector<std::uint8_t> font_of_glyphs(FontFile file,
                                                       const std::set<std::uint32_t>& glyphs);

/// Returns a font file named `family` with the glyphs of `characters` only, without hinting,
/// kerning and layout tables. Characters that the font lacks are left out. Equal input gives equal
/// bytes. Throws a failure if HarfBuzz cannot make the subset.
[[nodiscard]] std::vector<std::uint8_t> subset_font(FontFile file,
                                                    const std::set<char32_t>& characters,
                                                    const std::string& family);

// The glyphs of a text and their places, for formats that draw glyphs instead of strings: PDF, and
// the screen.
//
// Letters stand at the sums of their advances (font_metrics.h), without kerning and ligatures.
// Scripts whose letters join or reorder are shaped by HarfBuzz. Text that mixes directions is split
// where the direction changes; the parts run in the direction of the first letter that has one.

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
  /// True if each glyph begins where the advance of the one before ends.
  bool is_plain = true;
  std::vector<PlacedGlyph> glyphs;
};

/// Returns the glyphs of a text item, with the baseline of its anchor at the origin, not rotated.
[[nodiscard]] std::vector<GlyphRun> glyph_runs(const TextItem& item);

}  // namespace conelab::figure
