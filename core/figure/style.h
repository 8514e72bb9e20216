// How the project's figures look: sizes of journals' columns, text, lines, colours, markers.
//
// Colours: Okabe & Ito, "Color Universal Design" (2008), told apart by people with any common
// colour blindness; yellow, faint on white, is left out. Series differ by marker as well, so that
// figures survive grey print.
#pragma once

#include <string>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Column widths of journals in whole points, rounded down so that no figure is wider than its
/// column: 86 mm and 178 mm.
inline constexpr double single_column = 243, double_column = 504;

/// "86mm", "17.8cm", "7in", "504pt", "single", "double" as whole points, rounded down; misuse for
/// anything else and outside [100, 2000] points.
[[nodiscard]] double width_in_points(const std::string& text);

// Sizes in points. No text is below 6 pt and no line below 0.5 pt.
inline constexpr double text_size = 7, small_size = 6, title_size = 8;
inline constexpr double thin_line = 0.5, line_width = 0.75, data_line = 1.1;

inline constexpr Colour ink{38, 38, 38, 255};       ///< Axes and text.
inline constexpr Colour quiet{110, 110, 110, 255};  ///< Secondary text, leaders.
inline constexpr Colour grid_line{228, 228, 228, 255};

inline constexpr Colour blue{0, 114, 178, 255}, vermilion{213, 94, 0, 255}, green{0, 158, 115, 255},
    purple{204, 121, 167, 255}, orange{230, 159, 0, 255}, sky{86, 180, 233, 255};

/// The i-th series' colour; after the seventh they repeat (the markers do later).
[[nodiscard]] Colour series_colour(std::size_t i);

/// Fills a marker of the i-th shape (disc, square, triangle, diamond, turned triangle, pentagon,
/// cross, plus) around a point; equal areas for equal `size`, a diameter in points.
void draw_marker(DisplayList& list, Point centre, std::size_t i, double size, Colour colour);

/// Lines of at most `width` points, broken at spaces; a single word that is wider is elided.
/// No line ends beside an equals sign, or between the two coordinates of a point.
[[nodiscard]] std::vector<std::string> wrap(const std::string& text, double size, double width,
                                            Face face = Face::regular);

}  // namespace conelab::figure
