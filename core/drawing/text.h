// Strings of a figure: removal of invisible characters, and a small markup.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/utf8.h"
#include "core/drawing/display_list.h"

namespace conelab::figure {

/// Returns valid UTF-8 that is safe in XML and visible. Line feed, carriage return and tab become
/// arrows and NUL becomes ␀; other control characters and non-characters become U+FFFD; variation
/// selectors and directional marks, which have no shape, are removed.
[[nodiscard]] std::string clean_text(std::string_view text);

/// Does the same for a token. One of nothing but blanks becomes as many dots (·).
[[nodiscard]] std::string token_text(std::string_view token);

/// Returns a number with three decimals (a thousandth of a point), without trailing zeros.
[[nodiscard]] std::string decimal(double value);

/// Returns "x y".
[[nodiscard]] inline std::string point_text(Point p) { return decimal(p.x) + " " + decimal(p.y); }

/// Returns the segments of a path one after the other, each as Text()(segment) writes it.
template <class Text>
[[nodiscard]] std::string path_text(const Path& path) {
  std::string text;
  for (const Segment& s : path.segments) text += std::visit(Text{}, s);
  return text;
}

/// Returns the text with &, <, > and " as entities, for element content and attributes.
[[nodiscard]] std::string xml_escaped(std::string_view text);
/// Returns the text that `xml_escaped` turns into this.
[[nodiscard]] std::string xml_unescaped(std::string_view text);

/// Converts a string with the tags <i>, <b>, <sup> and <sub> to runs. `&lt;` and `&amp;` give < and
/// &. An unknown tag is taken literally; a tag that is not closed extends to the end.
[[nodiscard]] std::vector<TextRun> rich(std::string_view markup);

/// Returns the text without markup, for screen readers and golden tests.
[[nodiscard]] std::string plain(const std::vector<TextRun>& runs);

}  // namespace conelab::figure
