// The fonts of every figure, carried inside the program, so that no result depends on the machine.
//
// Liberation Sans (regular, bold, italic), and DejaVu Sans for characters that Liberation lacks;
// for what neither has see missing_glyphs.h. HarfBuzz reads and subsets them. The licences of both
// fonts ask that changed copies carry another name, and HarfBuzz does not write names, so the table
// `name` (OpenType 1.9) of a copy is written here.
//
// All functions may be called by any number of threads at the same time.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

using Bytes = std::span<const std::uint8_t>;

/// The four files: one for each Face, and the fallback.
enum class FontFile { regular, bold, italic, fallback };

/// The file's bytes; they live as long as the program.
[[nodiscard]] Bytes font_bytes(FontFile file);

/// Returns the number of the glyph for a code point; 0 (the replacement box) where the font has
/// none.
[[nodiscard]] std::uint32_t glyph_of(FontFile file, char32_t code);
/// Returns how far the pen moves for a code point, in em.
[[nodiscard]] double advance(FontFile file, char32_t code);

/// Metrics of Liberation Sans in em; descent is positive downwards.
[[nodiscard]] double ascent();
[[nodiscard]] double descent();
[[nodiscard]] double cap_height();

/// Which file draws this character in this face: the face's own; the fallback where only that has
/// the character; and where neither has it the face's own again, with its replacement box.
[[nodiscard]] FontFile font_for(Face face, char32_t code);
/// Whether that file has a shape for it.
[[nodiscard]] bool has_glyph(Face face, char32_t code);

/// Returns a font file named `family` with the glyphs of `characters` only, without hinting,
/// kerning and layout tables. Characters that the font lacks are left out. Equal input gives equal
/// bytes. Throws a failure when HarfBuzz cannot make the subset.
[[nodiscard]] std::vector<std::uint8_t> subset_font(FontFile file,
                                                    const std::set<char32_t>& characters,
                                                    const std::string& family);

/// Returns the whole font under another family name. The numbers of its glyphs stay, and so do the
/// layout tables for scripts whose letters join.
[[nodiscard]] std::vector<std::uint8_t> renamed_font(FontFile file, const std::string& family);

}  // namespace conelab::figure
