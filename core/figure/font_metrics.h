// Sizes of strings from the embedded fonts' own tables, so that core lays out without a window.
//
// Widths are sums of advances: no kerning, no ligatures, as every sink is told to draw. Where a
// script is shaped (Arabic, Indic) the drawn width may differ a little from the sum.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/figure/fonts.h"

namespace conelab::figure {

/// Super- and subscripts: their size, and how far their baseline moves up (em of the main size).
inline constexpr double script_size = 0.7, super_rise = 0.36, sub_rise = -0.16;
[[nodiscard]] double run_size(const TextRun& run, double size);
/// Upwards positive, in points.
[[nodiscard]] double run_rise(const TextRun& run, double size);

/// Width in points at this size.
[[nodiscard]] double text_width(std::string_view utf8, double size, Face face = Face::regular);
[[nodiscard]] double text_width(const std::vector<TextRun>& runs, double size);

/// The text cut to a width with an ellipsis at the end; "…" alone when nothing fits.
[[nodiscard]] std::string elide(std::string_view utf8, double size, double width,
                                Face face = Face::regular);

/// The text's corners on the page, turned with it: from above the capitals to the descenders.
using Quad = std::array<Point, 4>;
[[nodiscard]] Quad text_quad(const TextItem& item);
/// Do two convex quadrilaterals share area? (Separating axes.) Touching is not overlap.
[[nodiscard]] bool overlap(const Quad& a, const Quad& b);
/// The smallest axis-aligned box around it.
[[nodiscard]] Box bounds(const Quad& quad);

}  // namespace conelab::figure
