// Characters without a glyph in the embedded fonts, which can occur in tokens. They are drawn as
// their code points, such as "\u4E2D", because boxes would all look alike.
//
// Texts keep their characters. Only measuring and drawing use `drawn_text`.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// Returns the replacement of a character: "\u4E2D", or "\u{1F9FF}" if it has more than four
/// digits.
[[nodiscard]] std::u32string code_point_text(char32_t code);

/// Returns the text as it is drawn in this face.
[[nodiscard]] std::u32string drawn_text(Face face, std::u32string_view text);

/// Returns one line that names the characters without a glyph in the texts of a figure, such as "no
/// embedded font has 中 (U+4E2D): drawn as \u4E2D", or an empty string if there are none.
[[nodiscard]] std::string missing_note(const DisplayList& list);

}  // namespace conelab::figure
