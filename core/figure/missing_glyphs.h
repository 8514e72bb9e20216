// Characters that no embedded font has, as tokens of other scripts may be: drawn by their numbers,
// "\u4E2D", rather than as boxes that all look alike.
//
// Texts keep their characters: only widths and sinks read them by `drawn_text`.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/figure/display_list.h"

namespace conelab::figure {

/// What stands for a character without a glyph: "\u4E2D", and "\u{1F9FF}" beyond four digits.
[[nodiscard]] std::u32string code_point_text(char32_t code);

/// The text as this face draws it.
[[nodiscard]] std::u32string drawn_text(Face face, std::u32string_view text);

/// The characters without a glyph in the texts of a figure.
[[nodiscard]] std::set<char32_t> missing_characters(const DisplayList& list);

/// One line that names them: "no embedded font has 中 (U+4E2D): drawn as \u4E2D"; empty where
/// there are none.
[[nodiscard]] std::string missing_note(const DisplayList& list);

}  // namespace conelab::figure
