// Sizes of strings, from the tables of the embedded fonts, so that core can lay out text without a
// window.
//
// Widths are sums of advances, without kerning and ligatures, which are disabled in all output
// formats. For scripts with contextual shapes (Arabic, Indic) the drawn width may differ a little
// from the sum.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/drawing/display_list.h"
#include "core/drawing/fonts.h"

namespace conelab::figure {

/// The size of super- and subscripts, and how far their baseline moves up, relative to the main
/// size.
inline constexpr double script_size = 0.7, super_rise = 0.36, sub_rise = -0.16;
[[nodiscard]] double run_size(const TextRun& run, double size);
/// Returns the rise of the baseline in points, upwards positive.
[[nodiscard]] double run_rise(const TextRun& run, double size);

/// Return the width in points at this size.
[[nodiscard]] double text_width(std::string_view utf8, double size, Face face = Face::regular);
[[nodiscard]] double text_width(const std::vector<TextRun>& runs, double size);

/// Returns the text, cut to a width with an ellipsis at the end; only "…" if nothing fits.
[[nodiscard]] std::string elide(std::string_view utf8, double size, double width,
                                Face face = Face::regular);

/// The corners of a text on the page, rotated with it, from above the capitals to the descenders.
using Quad = std::array<Point, 4>;
[[nodiscard]] Quad text_quad(const TextItem& item);
/// Returns whether two convex quadrilaterals overlap, by separating axes. Touching is not overlap.
[[nodiscard]] bool overlap(const Quad& a, const Quad& b);
/// Returns whether a point lies in a rectangle or at most `margin` beside it.
[[nodiscard]] bool is_near(const Quad& rectangle, Point p, double margin);
/// Returns the smallest axis-aligned box around a quadrilateral.
[[nodiscard]] Box bounds(const Quad& quad);

// Characters without a glyph in the embedded fonts, which can occur in tokens. They are drawn as
// their code points, such as "\u4E2D", because boxes would all look alike.
//
// Texts keep their characters. Only measuring and drawing use `drawn_text`.

/// Returns the replacement of a character: "\u4E2D", or "\u{1F9FF}" if it has more than four
/// digits.
[[nodiscard]] std::u32string code_point_text(char32_t code);

/// Returns the text as it is drawn in this face.
[[nodiscard]] std::u32string drawn_text(Face face, std::u32string_view text);

/// Returns one line that names the characters without a glyph in the texts of a figure, such as "no
/// embedded font has 中 (U+4E2D): drawn as \u4E2D", or an empty string if there are none.
[[nodiscard]] std::string missing_note(const DisplayList& list);

}  // namespace conelab::figure
