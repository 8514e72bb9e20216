// Strings of a figure: UTF-8 in and out, cleaning, and a small markup for super- and subscripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Code points of UTF-8 text; each invalid byte becomes U+FFFD. Never throws.
[[nodiscard]] std::u32string decode_utf8(std::string_view text);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);

/// Valid UTF-8 that is safe in XML and visible: line feed, carriage return and tab become their
/// arrows, other controls and non-characters become U+FFFD, variation selectors and directional
/// marks are dropped (they have no shape).
[[nodiscard]] std::string clean_text(std::string_view text);

/// With &, <, > and " as entities, for element content and attributes.
[[nodiscard]] std::string xml_escaped(std::string_view text);

/// Runs of a string with <i>, <b>, <sup> and <sub>; `&lt;` and `&amp;` stand for themselves. An
/// unknown tag is taken literally, an unclosed one reaches to the end.
[[nodiscard]] std::vector<TextRun> rich(std::string_view markup);

/// The text without markup, as screen readers and golden tests see it.
[[nodiscard]] std::string plain(const std::vector<TextRun>& runs);

}  // namespace conelab::figure
