// The appearance of the figures: column widths of journals, sizes of text, lines, colours, markers;
// and the formats of their files.
//
// The colours are those of Okabe & Ito, "Color Universal Design" (2008), which people with any
// common colour blindness can distinguish; yellow is left out, because it is faint on white. Series
// differ by marker as well, so that figures are readable in grey print.
#pragma once

#include <string>

#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Column widths of journals, 86 mm and 178 mm, in whole points. They are rounded down, so that no
/// figure is wider than its column.
inline constexpr double single_column = 243, double_column = 504;

/// Converts "86mm", "86 mm", "17.8cm", "7in", "504pt", "single" or "double" to whole points,
/// rounded down. Throws misuse for other texts and for widths outside [100, 2000] points.
[[nodiscard]] double width_in_points(const std::string& text);

/// Returns the format of a figure's file by the ending of its name: "svg", "pdf" or "png"; upper
/// and lower case are equal. Throws misuse for any other ending or none.
[[nodiscard]] std::string file_format(const std::string& path);

// The arrangement of a page, in points: the room at its edges, between panels and for a title; the
// length of the longest label of a token.
inline constexpr double margin = 5, gutter = 10, title_room = 15, longest_label = 60;

// Sizes in points. No text is smaller than 6 pt and no line thinner than 0.5 pt.
inline constexpr double text_size = 7, small_size = 6, title_size = 8;
inline constexpr double thin_line = 0.5, line_width = 0.75, data_line = 1.1;

inline constexpr Colour ink{38, 38, 38, 255};       ///< Axes and text.
inline constexpr Colour quiet{110, 110, 110, 255};  ///< Secondary text, leaders.
inline constexpr Colour grid_line{228, 228, 228, 255};

inline constexpr Colour blue{0, 114, 178, 255}, vermilion{213, 94, 0, 255}, green{0, 158, 115, 255},
    purple{204, 121, 167, 255}, orange{230, 159, 0, 255}, sky{86, 180, 233, 255};

/// Returns the colour of the i-th series. Colours repeat after the seventh, markers later.
[[nodiscard]] Colour series_colour(std::size_t i);

/// Draws the i-th marker shape (disc, square, triangle, diamond, inverted triangle, pentagon,
/// cross, plus) around a point. For equal `size`, a diameter in points, all shapes have equal
/// areas.
void draw_marker(DisplayList& list, Point centre, std::size_t i, double size, Colour colour);

/// Breaks a text at spaces into lines of at most `width` points. A single word that is too wide is
/// shortened with an ellipsis. No line ends next to an equals sign or between the coordinates of a
/// point.
[[nodiscard]] std::vector<std::string> wrap(const std::string& text, double size, double width,
                                            Face face = Face::regular);

/// Returns the text of a figure behind the caption that the user typed, if any.
[[nodiscard]] std::string with_caption(const std::string& typed, const std::string& text);

/// Returns the text with a true minus sign where a hyphen opens a number or its exponent.
[[nodiscard]] std::string with_minus(const std::string& text);

/// Returns an empty page of this width. `title` is that of the metadata if they have none.
[[nodiscard]] DisplayList begin_page(double width, const Metadata& metadata, const char* title);

/// Writes the caption in lines below `top` if the page draws it, stores it as the description of
/// the figure, and sets the height of the page to end below it.
void finish_with_caption(DisplayList& list, const std::string& caption, double top);

}  // namespace conelab::figure
