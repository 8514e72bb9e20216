// The fonts of every figure. They are part of the program, so that no result depends on the
// machine.
//
// They are Liberation Sans (regular, bold, italic), and DejaVu Sans for characters that Liberation
// lacks. For characters that neither has see missing_glyphs.h. HarfBuzz reads and subsets them. The
// licences of both fonts require that changed copies have another name. HarfBuzz does not write
// names, so that the table `name` (OpenType 1.9) of a copy is written here.
//
// Threads may call all functions at the same time.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

using Bytes = std::span<const std::uint8_t>;

/// The font files: one for each Face, and the fallback.
enum class FontFile { regular, bold, italic, fallback };

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

/// Returns the file that draws a character in this face: the face's own; the fallback if only that
/// has the character; and the face's own, with its replacement box, if neither has it.
[[nodiscard]] FontFile font_for(Face face, char32_t code);
/// Returns whether that file has a glyph for it.
[[nodiscard]] bool has_glyph(Face face, char32_t code);

/// Returns a font file named `family` with the glyphs of `characters` only, without hinting,
/// kerning and layout tables. Characters that the font lacks are left out. Equal input gives equal
/// bytes. Throws a failure if HarfBuzz cannot make the subset.
[[nodiscard]] std::vector<std::uint8_t> subset_font(FontFile file,
                                                    const std::set<char32_t>& characters,
                                                    const std::string& family);

/// Returns the whole font under another family name. It keeps the numbers of the glyphs, and the
/// layout tables for scripts whose letters join.
[[nodiscard]] std::vector<std::uint8_t> renamed_font(FontFile file, const std::string& family);

}  // namespace conelab::figure
