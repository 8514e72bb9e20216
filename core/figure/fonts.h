// The fonts of every figure, carried inside the program, so that no result depends on the machine.
//
// Liberation Sans (regular, bold, italic) with DejaVu Sans for what Liberation lacks; for what
// neither has see missing_glyphs.h. Both licences ask that changed copies carry
// another name: subsets in files are called "Conelab Sans" and "Conelab Fallback".
#pragma once

#include "core/figure/display_list.h"
#include "core/figure/truetype.h"

namespace conelab::figure {

/// The four files: one for each Face, and the fallback.
enum class FontFile { regular, bold, italic, fallback };
inline constexpr FontFile font_files[] = {FontFile::regular, FontFile::bold, FontFile::italic,
                                          FontFile::fallback};

/// The file's bytes; they live as long as the program.
[[nodiscard]] Bytes font_bytes(FontFile file);
[[nodiscard]] const TrueType& font(FontFile file);

/// Which file draws this character in this face: the face's own, else the fallback where that has
/// it, else the face's own again (with its replacement box).
[[nodiscard]] FontFile font_for(Face face, char32_t code);
/// Whether that file has a shape for it.
[[nodiscard]] bool has_glyph(Face face, char32_t code);

}  // namespace conelab::figure
